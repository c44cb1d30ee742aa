//! What a continued session says about each field: nothing, a value, or that it is to go.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::field::each_field;
use super::{Config, Field, parse_mcp_servers};

/// What is said about one field.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Change<T> {
    /// Nothing: it is inherited. In JSON the key is absent.
    #[default]
    Inherit,
    /// It has this value. An empty list is a value.
    Set(T),
    /// It goes. In JSON `null`.
    Clear,
}

impl<T> Change<T> {
    /// The value that is set, if one is.
    pub const fn as_set(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Inherit | Self::Clear => None,
        }
    }

    /// Whether nothing is said.
    pub const fn is_inherit(&self) -> bool {
        matches!(self, Self::Inherit)
    }

    /// The value after the change, given what would be inherited.
    pub fn apply(self, inherited: Option<T>) -> Option<T> {
        match self {
            Self::Inherit => inherited,
            Self::Set(value) => Some(value),
            Self::Clear => None,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Set(value) => serializer.serialize_some(value),
            Self::Inherit | Self::Clear => serializer.serialize_none(),
        }
    }
}

macro_rules! overrides {
    ($($variant:ident $name:ident: $type:ty,)*) => {
        /// What a continued session says about the fields of its config.
        ///
        /// A key that is no field is refused: a misspelt `disallowed_tools` must not be taken for
        /// nothing having been said.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Overrides {
            $(
                #[doc = concat!("What is said about `", stringify!($name), "`.")]
                #[serde(skip_serializing_if = "Change::is_inherit")]
                pub $name: Change<$type>,
            )*
        }

        impl Overrides {
            /// Sets what `config` has, and says nothing about the rest.
            pub fn setting(config: Config) -> Self {
                Self { $($name: config.$name.map_or(Change::Inherit, Change::Set),)* }
            }

            /// Says that `field` is to go.
            pub fn clear(&mut self, field: Field) {
                match field { $(Field::$variant => self.$name = Change::Clear,)* }
            }

            /// Whether something is said about `field`.
            pub fn speaks_of(&self, field: Field) -> bool {
                match field { $(Field::$variant => !self.$name.is_inherit(),)* }
            }

            /// The config that comes of `base`, field by field and without any further rule.
            pub(super) fn apply(self, base: Config) -> Config {
                Config { $($name: self.$name.apply(base.$name),)* }
            }
        }
    };
}
each_field!(overrides);

impl Overrides {
    /// Reads what is said in JSON: an object, in which null clears.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        // A list would be taken for the fields in order.
        let mut fields: Map<String, Value> = serde_json::from_str(json)?;
        // As people write them: a `cwd` is none of the stored form, and must not get lost.
        if let Some(servers) = fields.get_mut("mcp_servers").filter(|servers| servers.is_object()) {
            let read =
                parse_mcp_servers(&servers.to_string()).map_err(serde_json::Error::custom)?;
            *servers = serde_json::to_value(read)?;
        }
        serde_json::from_value(Value::Object(fields))
    }

    /// The fields something is said about.
    pub fn fields(&self) -> Vec<Field> {
        Field::ALL.iter().copied().filter(|field| self.speaks_of(*field)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_three_values_for_a_field() {
        let json = r#"{"model":"haiku","allowed_tools":[],"disallowed_tools":null}"#;
        let overrides = Overrides::parse(json).unwrap();
        assert_eq!(overrides.model, Change::Set("haiku".to_owned()));
        assert_eq!(overrides.allowed_tools, Change::Set(Vec::new()));
        assert_eq!(overrides.disallowed_tools, Change::Clear);
        assert_eq!(overrides.title, Change::Inherit);
        assert_eq!(serde_json::to_string(&overrides).unwrap(), json);
    }

    #[test]
    fn servers_are_read_as_people_write_them_and_nothing_of_them_is_dropped() {
        let json = r#"{"mcp_servers":{"db":{"command":"db","cwd":"/data","timeout":5000}}}"#;
        let overrides = Overrides::parse(json).unwrap();
        let db = &overrides.mcp_servers.as_set().unwrap()["db"];
        let stored = serde_json::to_string(db).unwrap();
        assert!(stored.contains("/data") && db.timeout() == Some(5000), "{stored}");
        assert_eq!(Overrides::parse(r#"{"mcp_servers":null}"#).unwrap().mcp_servers, Change::Clear);
        let odd = r#"{"mcp_servers":{"db":{"command":"db","trust":true}}}"#;
        let error = Overrides::parse(odd).unwrap_err().to_string();
        assert!(error.starts_with("the MCP server db has `trust`"), "{error}");
        // Stored ones read as what they are.
        let again = serde_json::to_string(&overrides).unwrap();
        assert_eq!(Overrides::parse(&again).unwrap(), overrides);
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        assert!(Overrides::parse("[]").is_err() && Overrides::parse(r#"["opus"]"#).is_err());
        let error = Overrides::parse(r#"{"disalowed_tools":[]}"#).unwrap_err();
        assert!(error.to_string().starts_with("unknown field `disalowed_tools`"), "{error}");
    }
}
