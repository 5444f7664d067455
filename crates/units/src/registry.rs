/// Declares a family of models: one line per member, and the line is the whole registration.
///
/// For each line `"name" => module::Type` it emits `pub mod module;`, a variant `Type(module::Type)` of the
/// configuration enum (externally tagged by `"name"`, so that errors keep their position) and an entry of `NAMES`.
/// Each `module::Type` is the model's configuration: `Deserialize`, `Serialize`, `JsonSchema`, `Clone`, `Debug`, `PartialEq`.
/// Lines may stand in folders, `folder { ... }`, whose files lie in a folder of that name. With `as Trait` behind the name
/// of the enum every configuration implements `Trait`, and `model()` gives it as a trait object: the family asks its
/// members through it and names none.
#[macro_export]
macro_rules! registry {
    ($(#[$meta:meta])* pub enum $config:ident: $($name:literal => $module:ident :: $ty:ident,)+) => {
        $(pub mod $module;)+
        $crate::registry!(@enum [$(#[$meta])*] $config [$(($name, $module::$ty, $ty))+]);
    };
    ($(#[$meta:meta])* pub enum $config:ident as $model:path: $($name:literal => $module:ident :: $ty:ident,)+) => {
        $(pub mod $module;)+
        $crate::registry!(@enum [$(#[$meta])*] $config [$(($name, $module::$ty, $ty))+]);
        $crate::registry!(@model $config $model [$($ty)+]);
    };
    ($(#[$meta:meta])* pub enum $config:ident as $model:path:
        $($folder:ident { $($name:literal => $module:ident :: $ty:ident,)+ })+
    ) => {
        $(pub mod $folder { $(pub mod $module;)+ })+
        $crate::registry!(@enum [$(#[$meta])*] $config [$($(($name, $folder::$module::$ty, $ty))+)+]);
        $crate::registry!(@model $config $model [$($($ty)+)+]);
    };
    (@enum [$(#[$meta:meta])*] $config:ident [$(($name:literal, $path:path, $ty:ident))+]) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $config {
            $(#[serde(rename = $name)] $ty($path),)+
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
    (@model $config:ident $model:path [$($ty:ident)+]) => {
        impl $config {
            /// The member as its family asks it.
            pub(crate) fn model(&self) -> &dyn $model {
                match self { $(Self::$ty(model) => model,)+ }
            }
        }
    };
}
