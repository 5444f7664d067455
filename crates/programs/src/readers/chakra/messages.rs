//! The messages of Chakra's `et_def.proto` (`mlcommons/chakra`, `schema/protobuf`), with only the fields that Weft uses.
//! The decoder skips other fields, as protobuf allows. The names and numbers of the fields are those of the schema.

use prost::{Message, Oneof};

/// The header of a trace file, which is its first message.
#[derive(Clone, PartialEq, Message)]
pub struct GlobalMetadata {
    #[prost(string, tag = "1")]
    pub version: String,
}

/// A named value of a node.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29")]
    pub value: Option<Value>,
}

/// A single value. Different writers of traces use different types of numbers.
#[derive(Clone, PartialEq, Oneof)]
pub enum Value {
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(string, tag = "29")]
    Text(String),
}

impl Value {
    /// Returns the value as a non-negative whole number. A string of digits also counts as a number.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Int32(number) | Self::Sint32(number) | Self::Sfixed32(number) => u64::try_from(*number).ok(),
            Self::Int64(number) | Self::Sint64(number) | Self::Sfixed64(number) => u64::try_from(*number).ok(),
            Self::Uint32(number) | Self::Fixed32(number) => Some(u64::from(*number)),
            Self::Uint64(number) | Self::Fixed64(number) => Some(*number),
            Self::Bool(truth) => Some(u64::from(*truth)),
            Self::Text(text) => text.parse().ok(),
        }
    }

    /// Returns the value as a string. The string is empty if the value is neither a string nor a number.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            other => other.number().map_or_else(String::new, |number| number.to_string()),
        }
    }
}

/// The inputs of a node (`IOInfo`).
#[derive(Clone, PartialEq, Message)]
pub struct Inputs {
    /// The values of all inputs, joined to one string.
    #[prost(string, tag = "1")]
    pub values: String,
}

/// An operation of a rank.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    /// The bytes of an encoded [`Inputs`]. The reader decodes them only for a few nodes.
    #[prost(bytes = "vec", tag = "8")]
    pub inputs: Vec<u8>,
    #[prost(message, repeated, tag = "10")]
    pub attr: Vec<AttributeProto>,
}

impl Node {
    /// Returns the value of an attribute.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.attr.iter().find(|attr| attr.name == name)?.value.as_ref()
    }

    /// Returns the value of an attribute, if it is a non-negative number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.value(name)?.number()
    }
}
