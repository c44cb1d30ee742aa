//! Types and rules of heirloom.
