//! Whether the daemon is there. The one thing anybody is told.

use heirloom_api::Health;

use crate::answer::Told;

pub(super) async fn health() -> Told<Health> {
    Told(Health { status: "ok" })
}
