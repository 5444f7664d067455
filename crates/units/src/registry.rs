/// Declares a family of models: one line per member, and the line is the whole registration.
///
/// For each line `"name" => module::Type` it emits `pub mod module;`, a variant `Type(module::Type)` of the
/// configuration enum (externally tagged by `"name"`, so that errors keep their position) and an entry of `NAMES`.
/// Each `module::Type` is the model's configuration: `Deserialize`, `Serialize`, `JsonSchema`, `Clone`, `Debug`, `PartialEq`.
///
/// `pub enum Config of Trait` adds `model()`, the member as `&dyn Trait`, and `examples()`, those of all members, which the
/// trait declares as `fn examples() -> Vec<Self> where Self: Sized`.
#[macro_export]
macro_rules! registry {
    ($(#[$meta:meta])* pub enum $config:ident of $model:ident: $($name:literal => $module:ident :: $ty:ident,)+) => {
        $crate::registry! { $(#[$meta])* pub enum $config: $($name => $module::$ty,)+ }

        impl $config {
            /// The member, as what every member of the family is.
            pub fn model(&self) -> &dyn $model {
                match self { $(Self::$ty(member) => member,)+ }
            }

            /// The examples of every member.
            pub fn examples() -> Vec<Self> {
                let mut examples = Vec::new();
                $(examples.extend(<$module::$ty as $model>::examples().into_iter().map(Self::$ty));)+
                examples
            }
        }
    };
    ($(#[$meta:meta])* pub enum $config:ident: $($name:literal => $module:ident :: $ty:ident,)+) => {
        $(pub mod $module;)+

        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $config {
            $(#[serde(rename = $name)] $ty($module::$ty),)+
        }

        impl $config {
            /// The names that a scenario may write, in the order of registration.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name of this member.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$ty(_) => $name,)+ }
            }
        }
    };
}
