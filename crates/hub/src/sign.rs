//! The key by which a host signs what it sends, and checking what others signed.

use std::path::Path;

use heirloom_core::record::Hash;
use heirloom_core::share;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::error::HubError;

/// Beside the ledger, for its owner only.
const FILE: &str = "hub.key";

/// The key of this home.
pub(crate) struct Signer(Ed25519KeyPair);

impl Signer {
    /// The key of this home; made, if there is none.
    pub(crate) fn of(home: &Path) -> Result<Self, HubError> {
        let path = home.join(FILE);
        let failed = |doing, source| HubError::File { doing, path: path.clone(), source };
        let bad = |why: &str| failed("use", std::io::Error::other(why.to_owned()));
        let bytes = match heirloom_repo::file::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
                    .map_err(|_| bad("no randomness to make a key of"))?;
                heirloom_repo::replace_private(&path, made.as_ref())
                    .map_err(|source| failed("write", source))?;
                made.as_ref().to_vec()
            }
            Err(error) => return Err(failed("read", error.source)),
        };
        Ed25519KeyPair::from_pkcs8(&bytes).map(Self).map_err(|_| bad("it is not a key"))
    }

    pub(crate) fn public(&self) -> Vec<u8> {
        self.0.public_key().as_ref().to_vec()
    }

    pub(crate) fn sign(&self, host: &str, key: &str, count: u64, link: &Hash) -> Vec<u8> {
        self.0.sign(&share::signed(host, key, count, link)).as_ref().to_vec()
    }
}

/// Whether the host with that public key signed it.
pub(crate) fn is_signed(
    public: &[u8],
    (host, key): (&str, &str),
    count: u64,
    link: &Hash,
    signature: &[u8],
) -> bool {
    UnparsedPublicKey::new(&ED25519, public)
        .verify(&share::signed(host, key, count, link), signature)
        .is_ok()
}
