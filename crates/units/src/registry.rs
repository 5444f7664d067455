/// Declares a family of models: one line per member, and the line is the whole registration.
///
/// For each line `"name" => module::Type` it emits `pub mod module;`, a variant `Type(module::Type)` of the
/// configuration enum (externally tagged by `"name"`, so that errors keep their position) and an entry of `NAMES`.
/// Each `module::Type` is the model's configuration: `Deserialize`, `Serialize`, `JsonSchema`, `Clone`, `Debug`, `PartialEq`.
///
/// `pub enum Config as Trait declares CONST: Kind:` writes the dispatch, too: `Config::model` gives the member as the trait
/// that every `module::Type` implements, `Config::declares` its constant `CONST`, and `Config::CONST` lists those of all.
#[macro_export]
macro_rules! registry {
    (
        $(#[$meta:meta])* pub enum $config:ident as $model:ident declares $table:ident: $kind:ty:
        $($name:literal => $module:ident :: $ty:ident,)+
    ) => {
        $crate::registry! { $(#[$meta])* pub enum $config: $($name => $module :: $ty,)+ }

        impl $config {
            /// What each member declares, in the order of registration.
            pub(crate) const $table: &'static [(&'static str, $kind)] = &[$(($name, $module::$ty::$table)),+];

            /// What this member declares.
            pub(crate) fn declares(&self) -> $kind {
                match self { $(Self::$ty(_) => $module::$ty::$table,)+ }
            }

            pub(crate) fn model(&self) -> &dyn $model {
                match self { $(Self::$ty(config) => config,)+ }
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
