//! The commands that git has itself.
//!
//! Any other word after `git` is an alias or a program of somebody's, and only git's settings say which.

/// In one text, which is shorter to read and to look through than a list. Not those that come in a package of their own or
/// that only the newest git has: where they are not, an alias may be called so.
const OWN: &str = "\
    add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr \
    check-ignore check-mailmap check-ref-format checkout checkout--worker checkout-index cherry \
    cherry-pick clean clone column commit commit-graph commit-tree config count-objects \
    credential credential-cache credential-cache--daemon credential-store daemon describe diff \
    diff-files diff-index diff-tree difftool difftool--helper fast-export fast-import fetch \
    fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck \
    fsck-objects fsmonitor--daemon gc get-tar-commit-id grep hash-object help hook http-backend \
    http-fetch http-push imap-send index-pack init init-db interpret-trailers log ls-files \
    ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index \
    merge-octopus merge-one-file merge-ours merge-recursive merge-recursive-ours \
    merge-recursive-theirs merge-resolve merge-subtree merge-tree mergetool mergetool--lib mktag \
    mktree multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs parse-remote \
    patch-id prune prune-packed pull push range-diff read-tree rebase receive-pack reflog remote \
    remote-ext remote-fd remote-http remote-https repack replace request-pull rerere reset \
    restore rev-list rev-parse revert rm send-pack sh-i18n--envsubst sh-setup shell shortlog \
    show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule \
    submodule--helper switch symbolic-ref tag unpack-file unpack-objects update-index update-ref \
    update-server-info upload-archive upload-archive--writer upload-pack var verify-commit \
    verify-pack verify-tag version whatchanged worktree write-tree";

/// Whether git has a command of that name. No alias stands for one of those.
pub(super) fn is_own(name: &str) -> bool {
    OWN.split(' ').any(|own| own == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_has_itself_is_known_and_nothing_else() {
        for name in ["add", "push", "stash", "worktree", "write-tree"] {
            assert!(is_own(name), "{name}");
        }
        for name in ["", "p", "pus", "lfs", "add am"] {
            assert!(!is_own(name), "{name}");
        }
    }
}
