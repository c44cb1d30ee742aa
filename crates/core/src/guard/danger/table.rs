//! The commands of each kind, as the words they begin with.

use super::Danger;
use crate::guard::shell::Command;

type Patterns = &'static [&'static [&'static str]];

const FORCE_PUSH: Patterns = &[
    &["git", "push", "--force"],
    &["git", "push", "--delete"],
    &["git", "push", "--prune"],
    &["gh", "repo", "delete"],
    &["glab", "repo", "delete"],
];

const HISTORY_REWRITE: Patterns = &[
    &["git", "filter-branch"],
    &["git", "filter-repo"],
    &["git", "rebase", "--interactive"],
    &["git", "rebase", "--root"],
    &["git", "reflog", "expire"],
    &["git", "reflog", "delete"],
    &["git", "update-ref", "-d"],
    &["git", "gc", "--prune=*"],
    &["git", "replace"],
    &["bfg"],
];

const DISCARD_WORK: Patterns = &[
    &["git", "reset", "--hard"],
    &["git", "clean", "--force"],
    &["git", "checkout", "--force"],
    &["git", "checkout", "{.,./,:/}"],
    &["git", "checkout", "HEAD", "{.,./,:/}"],
    &["git", "restore", "{.,./,:/}"],
    &["git", "switch", "--force"],
    &["git", "stash", "{clear,drop}"],
];

const DISK: Patterns = &[
    &["mkfs*"],
    &["mke2fs"],
    &["fdisk"],
    &["sfdisk"],
    &["gdisk"],
    &["sgdisk"],
    &["cfdisk"],
    &["parted"],
    &["wipefs"],
    &["mkswap"],
    &["blkdiscard"],
    &["hdparm"],
    &["cryptsetup", "{luksFormat,erase}"],
    &["zpool", "{destroy,create,labelclear}"],
    &["zfs", "destroy"],
    &["btrfs", "subvolume", "delete"],
    &["{lv,vg,pv}remove"],
    &["mdadm", "--zero-superblock"],
    &["diskutil", "{erase*,partitionDisk,zeroDisk,secureErase,apfs}"],
    &["hdiutil", "create"],
];

const PERMISSIONS: Patterns = &[
    &["chown", "--recursive"],
    &["chgrp", "--recursive"],
    &["setfacl"],
    &["chattr"],
    &["visudo"],
    &["{passwd,chpasswd,gpasswd}"],
    &["{user,group}{add,mod,del}"],
    &["{add,del}user"],
    &["{setenforce,setcap,icacls,takeown}"],
];

const PUBLISH: Patterns = &[
    &["npm", "{publish,unpublish,deprecate}"],
    &["{pnpm,bun,lerna,changeset,vsce,ovsx,jsr,deno,wasm-pack}", "publish"],
    &["yarn", "publish"],
    &["yarn", "npm", "publish"],
    &["{semantic-release,release-it,np}"],
    &["cargo", "{publish,yank,release,login,owner}"],
    &["twine", "upload"],
    &["{poetry,uv,flit,hatch,pdm,rye,maturin}", "publish"],
    &["maturin", "upload"],
    &["gem", "{push,yank}"],
    &["{docker,podman,helm,crane,buildah}", "push"],
    &["docker", "image", "push"],
    &["docker", "compose", "push"],
    &["docker", "buildx", "build", "--push"],
    &["docker", "build", "--push"],
    &["skopeo", "{copy,sync}"],
    &["{gh,glab}", "release", "{create,upload,delete,edit}"],
    &["mvn", "{deploy,release:*}"],
    &["{gradle,gradlew}", "publish*"],
    &["dotnet", "nuget", "push"],
    &["nuget", "push"],
    &["{dart,flutter}", "pub", "publish"],
    &["goreleaser", "release"],
    &["mix", "hex.publish"],
    &["{cabal,luarocks,anaconda,conan}", "upload"],
    &["pod", "trunk", "push"],
];

impl Danger {
    pub(super) const fn patterns(self) -> Patterns {
        match self {
            Self::ForcePush => FORCE_PUSH,
            Self::HistoryRewrite => HISTORY_REWRITE,
            Self::DiscardWork => DISCARD_WORK,
            Self::DeleteOutside => &[],
            Self::Disk => DISK,
            Self::Permissions => PERMISSIONS,
            Self::Publish => PUBLISH,
        }
    }

    /// Options with which nothing happens.
    pub(super) fn unless(self, command: &Command) -> &'static [&'static str] {
        let subcommand = command.argv.get(1).and_then(|word| word.known()).unwrap_or_default();
        match (self, subcommand) {
            (Self::ForcePush, _) => &["--dry-run", "-n"],
            (Self::DiscardWork, "clean") => {
                &["--dry-run", "-n", "-nd", "-dn", "-nfd", "-fdn", "-ndx"]
            }
            (Self::DiscardWork, "restore") => &["--staged", "-S"],
            (Self::HistoryRewrite, "replace") => &["-l", "--list"],
            (Self::Disk, _) => &["-l", "--list", "print", "--help", "-L"],
            (Self::Permissions, _) => &["--help", "-S", "--status"],
            (Self::Publish, "push") => &["--dry-run", "--help"],
            (Self::Publish, _) => {
                &["--dry-run", "--help", "-h", "--snapshot", "--list", "--dry", "--build"]
            }
            _ => &[],
        }
    }
}
