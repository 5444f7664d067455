/// Declares a family of models: one line per member, and the line is the whole registration.
///
/// For each line `"name" => module::Type` it writes `pub mod module;`, a variant `Type(module::Type)` of the
/// configuration enum (externally tagged by `"name"`, so that errors keep their position) and an entry of `NAMES`. Each
/// `module::Type` is the model's configuration: `Deserialize`, `Serialize`, `JsonSchema`, `Clone`, `Debug`,
/// `PartialEq`. Lines may stand in folders, `folder { ... }`, whose files lie in a folder of that name.
///
/// With `as Trait` behind the name of the enum, every configuration implements `Trait`, and `Config::model` returns the
/// member as `&dyn Trait`: the family asks its members through the trait and names none of them. `declares CONST: Kind`
/// is for facts that do not depend on parameters: each configuration has an associated constant `CONST`,
/// `Config::declares` returns that of one member, and `Config::CONST` lists those of all members by name. `with
/// examples` adds `Config::examples`: the configurations that every member gives for tests; `with examples of Example`:
/// each in an `Example`, which has a `map`. `given to User` adds `Config::give_to`, for what must be compiled for each
/// member.
///
/// With `open to Outside` the enum has one more variant, for members that crates outside of Weft bring. `Outside` is a type
/// with the functions `name`, `parameters`, `model` and `declares` of `weft_api::outside::Outside`.
#[macro_export]
macro_rules! registry {
    ($(#[$meta:meta])* pub enum $config:ident $(as $model:ident)? $(declares $table:ident: $kind:ty)? $(, with $examples:ident $(of $wrap:ident)?)? $(, given to $user:ident)? $(, open to $outside:ident)?:
        $($name:literal => $module:ident :: $ty:ident,)+
    ) => {
        $(pub mod $module;)+
        $crate::registry!(@enum [$(#[$meta])*] $config [$($outside)?] [$(($name, $module::$ty, $ty))+]);
        $crate::registry!(
            @model $config [$($model)?] [$($table: $kind)?] [$($examples $(of $wrap)?)?] [$($outside)?] [$(($name, $module::$ty, $ty))+]
        );
        $crate::registry!(@given $config [$($user)?] [$($ty)+]);
    };
    ($(#[$meta:meta])* pub enum $config:ident $(as $model:ident)? $(declares $table:ident: $kind:ty)? $(, with $examples:ident $(of $wrap:ident)?)? $(, given to $user:ident)? $(, open to $outside:ident)?:
        $($folder:ident { $($name:literal => $module:ident :: $ty:ident,)+ })+
    ) => {
        $(pub mod $folder { $(pub mod $module;)+ })+
        $crate::registry!(@enum [$(#[$meta])*] $config [$($outside)?] [$($(($name, $folder::$module::$ty, $ty))+)+]);
        $crate::registry!(
            @model $config [$($model)?] [$($table: $kind)?] [$($examples $(of $wrap)?)?] [$($outside)?] [$($(($name, $folder::$module::$ty, $ty))+)+]
        );
        $crate::registry!(@given $config [$($user)?] [$($($ty)+)+]);
    };
    (@enum [$(#[$meta:meta])*] $config:ident [] [$(($name:literal, $path:path, $ty:ident))+]) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $config {
            $(#[serde(rename = $name)] $ty($path),)+
        }
        $crate::registry!(@names $config [] [$(($name, $ty))+]);
    };
    (@enum [$(#[$meta:meta])*] $config:ident [$outside:ident] [$(($name:literal, $path:path, $ty:ident))+]) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Deserialize, schemars::JsonSchema)]
        pub enum $config {
            $(#[serde(rename = $name)] $ty($path),)+
            /// A member that this registry does not know. No text is read as one.
            #[serde(skip_deserializing)]
            #[schemars(skip)]
            Outside($outside),
        }
        $crate::registry!(@names $config [$outside] [$(($name, $ty))+]);

        // as the derived form, but that the name of a member from outside is its own
        impl serde::Serialize for $config {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$ty(member) => serializer.collect_map([($name, member)]),)+
                    Self::Outside(member) => serializer.collect_map([(member.name(), member.parameters())]),
                }
            }
        }
    };
    (@names $config:ident [$($outside:ident)?] [$(($name:literal, $ty:ident))+]) => {
        impl $config {
            /// The names that a scenario may write, in the order of registration.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name of this member.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$ty(_) => $name,)+
                    $(Self::Outside(member) => $outside::name(member),)?
                }
            }
        }
    };
    (@model $config:ident [] [] [] [] $members:tt) => {};
    (@model $config:ident [$model:ident] $declares:tt $examples:tt [$($outside:ident)?] [$(($name:literal, $path:path, $ty:ident))+]) => {
        impl $config {
            /// The member as its family asks it.
            pub fn model(&self) -> &dyn $model {
                match self {
                    $(Self::$ty(member) => member,)+
                    $(Self::Outside(member) => $outside::model(member),)?
                }
            }
        }
        $crate::registry!(@declares $config $model $declares [$($outside)?] [$(($name, $path, $ty))+]);
        $crate::registry!(@examples $config $model $examples [$(($path, $ty))+]);
    };
    (@declares $config:ident $model:ident [] $outside:tt $members:tt) => {};
    (@declares $config:ident $model:ident [$table:ident: $kind:ty] [$($outside:ident)?] [$(($name:literal, $path:path, $ty:ident))+]) => {
        impl $config {
            /// What each member declares, in the order of registration.
            pub const $table: &'static [(&'static str, $kind)] = &[$(($name, <$path>::$table)),+];

            /// What this member declares.
            pub fn declares(&self) -> $kind {
                match self {
                    $(Self::$ty(_) => <$path>::$table,)+
                    $(Self::Outside(member) => $outside::declares(member),)?
                }
            }
        }
    };
    (@given $config:ident [] $members:tt) => {};
    (@given $config:ident [$user:ident] [$($ty:ident)+]) => {
        impl $config {
            /// Gives the member, as the type that it is, to `user`: what is made of it is compiled for each member.
            pub fn give_to<U: $user>(&self, user: U) -> U::Output {
                match self { $(Self::$ty(member) => user.take(member.clone()),)+ }
            }
        }
    };
    (@examples $config:ident $model:ident [] $members:tt) => {};
    (@examples $config:ident $model:ident [$examples:ident] [$(($path:path, $ty:ident))+]) => {
        impl $config {
            /// The examples of every member.
            pub fn $examples() -> Vec<Self> {
                let mut examples = Vec::new();
                $(examples.extend(<$path as $model>::$examples().into_iter().map(Self::$ty));)+
                examples
            }
        }
    };
    (@examples $config:ident $model:ident [$examples:ident of $wrap:ident] [$(($path:path, $ty:ident))+]) => {
        impl $config {
            /// The examples of every member.
            pub fn $examples() -> Vec<$wrap<Self>> {
                let mut examples = Vec::new();
                $(examples.extend(<$path as $model>::$examples().into_iter().map(|example| example.map(Self::$ty)));)+
                examples
            }
        }
    };
}
