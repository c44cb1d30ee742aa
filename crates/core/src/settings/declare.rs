//! The two macros a setting is declared with.
//!
//! One declaration gives the type, its default, its reader and its [`Shape`](super::Shape); a key
//! cannot be read without being in the schema, nor documented without being read.

/// Declares a section: a struct whose fields are keys.
///
/// `name: Type` has the type's default, `name: Type = value` has its own, `name as "key": …` is
/// written differently in the file.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $key:literal)? : $ty:ty $(= $default:expr)?
            ),+ $(,)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                $(#[serde(rename = $key)])?
                pub $field: $ty,
            )+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $crate::settings::declare::default_of!($($default)?), )+ }
            }
        }

        impl $crate::settings::Setting for $name {
            const SHAPE: $crate::settings::Shape =
                $crate::settings::Shape::Section(&$crate::settings::Section {
                    about: concat!($($about, "\n"),+),
                    fields: &[
                        $( $crate::settings::Field {
                            key: $crate::settings::declare::key_of!($field $($key)?),
                            about: concat!($($doc, "\n"),+),
                            shape: <$ty as $crate::settings::Setting>::SHAPE,
                        }, )+
                    ],
                    defaults: || serde_json::to_value(Self::default()).unwrap_or_default(),
                });

            fn read(
                node: &$crate::yaml::Node,
                reader: &mut $crate::settings::Reader,
            ) -> Option<Self> {
                let entries = reader.entries(node)?;
                let mut section = Self::default();
                for entry in entries {
                    match entry.key.as_str() {
                        $(
                            $crate::settings::declare::key_of!($field $($key)?) => {
                                if let Some(value) = reader.field(entry) {
                                    section.$field = value;
                                }
                            }
                        )+
                        _ => reader.unknown(entry, &[
                            $( $crate::settings::declare::key_of!($field $($key)?) ),+
                        ]),
                    }
                }
                Some(section)
            }
        }
    };
}

/// Declares a choice: an enum whose variants are the allowed words, the first being the default.
macro_rules! choice {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident {
            $(#[doc = $first_doc:literal])+
            $first:ident = $first_word:literal
            $(,
                $(#[doc = $doc:literal])+
                $variant:ident = $word:literal
            )* $(,)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(
            Debug,
            Clone,
            Copy,
            PartialEq,
            Eq,
            Hash,
            PartialOrd,
            Ord,
            Default,
            serde::Serialize,
            serde::Deserialize,
        )]
        pub enum $name {
            $(#[doc = $first_doc])+
            #[default]
            #[serde(rename = $first_word)]
            $first,
            $(
                $(#[doc = $doc])+
                #[serde(rename = $word)]
                $variant,
            )*
        }

        impl $name {
            /// The word as it is written.
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::$first => $first_word,
                    $( Self::$variant => $word, )*
                }
            }
        }

        impl $crate::settings::Setting for $name {
            const SHAPE: $crate::settings::Shape = $crate::settings::Shape::Choice(&[
                $crate::settings::Choice { word: $first_word, about: concat!($($first_doc),+) },
                $( $crate::settings::Choice { word: $word, about: concat!($($doc),+) }, )*
            ]);

            fn read(
                node: &$crate::yaml::Node,
                reader: &mut $crate::settings::Reader,
            ) -> Option<Self> {
                match reader.word(node, &[$first_word $(, $word)*])? {
                    $first_word => Some(Self::$first),
                    $( $word => Some(Self::$variant), )*
                    _ => None,
                }
            }
        }
    };
}

macro_rules! default_of {
    () => {
        Default::default()
    };
    ($default:expr) => {
        $default
    };
}

macro_rules! key_of {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

pub(super) use {choice, default_of, key_of, section};
