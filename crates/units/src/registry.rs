/// Declares a family of models, e.g. all routings. Each model has one line, and this line is its whole registration.
///
/// For each line `"name" => module::Type` the macro writes `pub mod module;`, a variant `Type(module::Type)` of the configuration enum, and
/// an entry of `NAMES`. The enum is externally tagged by `"name"`, so that errors keep their position in the scenario. Each `module::Type`
/// is the model's configuration: `Deserialize`, `Serialize`, `JsonSchema`, `Clone`, `Debug`, `PartialEq`. The lines can be grouped as
/// `folder { ... }`. The files of the modules in a group are then in a folder with that name.
///
/// With `as Trait` after the name of the enum, every configuration implements `Trait`. `Config::model` returns the model as `&dyn Trait`,
/// so other code calls models through the trait and does not name them. `declares CONST: Kind` is for facts that do not depend on
/// parameters: each `module::Type` has an associated constant `CONST`. `Config::declares` returns the constant of a model, and
/// `Config::CONST` lists the constants of all models by name. `with examples` adds `Config::examples`, which returns the example
/// configurations that the models provide for tests. With `with examples of Example`, it returns each configuration in an `Example`, which
/// has a method `map`. `given to User` adds `Config::give_to`, which passes the model with its concrete type to a `User`, so that code can
/// be compiled for each model.
///
/// With `open to Added` the enum has one more variant, for models that other crates add ([`add_model!`](crate::add_model)). `Added` is the
/// type of the entry for an added model. Scenarios can use added models, and the JSON Schema includes them ([`outside`](crate::outside)).
/// If the family is also `given to User by Giver`, an added model declares a `Giver`, which passes the model to a `User`
/// (`User::take_outside`).
#[macro_export]
macro_rules! registry {
    ($(#[$meta:meta])* pub enum $config:ident $(as $model:ident)? $(declares $table:ident: $kind:ty)? $(, with $examples:ident $(of $wrap:ident)?)? $(, given to $user:ident $(by $giver:ty)?)? $(, open to $added:ident)?:
        $($name:literal => $module:ident :: $ty:ident,)+
    ) => {
        $(pub mod $module;)+
        $crate::registry!(
            @all [$(#[$meta])*] $config [$($model)?] [$($table: $kind)?] [$($examples $(of $wrap)?)?] [$($user)?] [$($added)?] [$($kind)? $($($giver)?)?]
            [$(($name, $module::$ty, $ty))+]
        );
    };
    ($(#[$meta:meta])* pub enum $config:ident $(as $model:ident)? $(declares $table:ident: $kind:ty)? $(, with $examples:ident $(of $wrap:ident)?)? $(, given to $user:ident $(by $giver:ty)?)? $(, open to $added:ident)?:
        $($folder:ident { $($name:literal => $module:ident :: $ty:ident,)+ })+
    ) => {
        $(pub mod $folder { $(pub mod $module;)+ })+
        $crate::registry!(
            @all [$(#[$meta])*] $config [$($model)?] [$($table: $kind)?] [$($examples $(of $wrap)?)?] [$($user)?] [$($added)?] [$($kind)? $($($giver)?)?]
            [$($(($name, $folder::$module::$ty, $ty))+)+]
        );
    };
    (@all $meta:tt $config:ident $model:tt $declares:tt $examples:tt $user:tt $added:tt $facts:tt $members:tt) => {
        $crate::registry!(@enum $meta $config $model $facts $added $members);
        $crate::registry!(@names $config $added $members);
        $crate::registry!(@model $config $model $added $members);
        $crate::registry!(@declares $config $model $declares $added $members);
        $crate::registry!(@examples $config $model $examples $members);
        $crate::registry!(@given $config $user $added $members);
        $crate::registry!(@added $config $model $declares $added $facts);
    };
    (@enum [$(#[$meta:meta])*] $config:ident $model:tt $facts:tt [] [$(($name:literal, $path:path, $ty:ident))+]) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $config {
            $(#[serde(rename = $name)] $ty($path),)+
        }
    };
    (@enum [$(#[$meta:meta])*] $config:ident [$model:ident] $facts:tt [$added:ident] [$(($name:literal, $path:path, $ty:ident))+]) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, schemars::JsonSchema)]
        #[schemars(transform = $crate::outside::describe::<$config>)]
        pub enum $config {
            $(#[schemars(rename = $name)] $ty($path),)+
            /// A model from another crate, which has no line in this registry.
            #[schemars(skip)]
            Outside($crate::outside::Outside<dyn $model + Send + Sync, $crate::registry!(@kind $facts)>),
        }

        // Like the derived implementation, but writes a model from another crate under the name of this model.
        impl serde::Serialize for $config {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$ty(member) => serializer.collect_map([($name, member)]),)+
                    Self::Outside(member) => serializer.collect_map([(member.name(), member.parameters())]),
                }
            }
        }

        // Like the derived implementation, but also accepts the names of models from other crates.
        impl<'de> serde::Deserialize<'de> for $config {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader;

                impl<'de> serde::de::Visitor<'de> for Reader {
                    type Value = $config;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("enum ", stringify!($config)))
                    }

                    fn visit_enum<A: serde::de::EnumAccess<'de>>(self, access: A) -> Result<$config, A::Error> {
                        use serde::de::{Error, VariantAccess};
                        let (name, parameters) = access.variant::<String>()?;
                        match &*name {
                            $($name => parameters.newtype_variant().map($config::$ty),)+
                            name => match $config::addition(name) {
                                Some(added) => parameters.newtype_variant_seed($crate::outside::Parameters(added)),
                                None => Err(A::Error::unknown_variant(name, $config::names())),
                            },
                        }
                    }
                }

                deserializer.deserialize_enum(stringify!($config), Self::NAMES, Reader)
            }
        }
    };
    (@of $added:ident $answer:expr) => { $answer };
    (@kind []) => { () };
    (@kind [$kind:ty]) => { $kind };
    (@names $config:ident [$($added:ident)?] [$(($name:literal, $path:path, $ty:ident))+]) => {
        impl $config {
            /// The names of the registered models, in the order of registration.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name of this model in a scenario.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$ty(_) => $name,)+
                    $(Self::Outside(member) => $crate::registry!(@of $added member.name()),)?
                }
            }
        }
    };
    (@model $config:ident [] [] $members:tt) => {};
    (@model $config:ident [$model:ident] [$($added:ident)?] [$(($name:literal, $path:path, $ty:ident))+]) => {
        impl $config {
            /// The model, as a reference to the trait of its family.
            pub fn model(&self) -> &dyn $model {
                match self {
                    $(Self::$ty(member) => member,)+
                    $(Self::Outside(member) => $crate::registry!(@of $added member.model()),)?
                }
            }
        }
    };
    (@declares $config:ident $model:tt [] $added:tt $members:tt) => {};
    (@declares $config:ident $model:tt [$table:ident: $kind:ty] [$($added:ident)?] [$(($name:literal, $path:path, $ty:ident))+]) => {
        impl $config {
            /// Name and declared facts of each registered model, in the order of registration.
            pub const $table: &'static [(&'static str, $kind)] = &[$(($name, <$path>::$table)),+];

            /// The facts that this model declares.
            pub fn declares(&self) -> $kind {
                match self {
                    $(Self::$ty(_) => <$path>::$table,)+
                    $(Self::Outside(member) => $crate::registry!(@of $added member.declares()),)?
                }
            }
        }
    };
    (@given $config:ident [] $added:tt $members:tt) => {};
    (@given $config:ident [$user:ident] [] [$(($name:literal, $path:path, $ty:ident))+]) => {
        impl $config {
            /// Passes the model, with its concrete type, to `user`, so that the code of `user` is compiled for each model.
            pub fn give_to<U: $user>(&self, user: U) -> U::Output {
                match self { $(Self::$ty(member) => user.take(member.clone()),)+ }
            }
        }
    };
    (@given $config:ident [$user:ident] [$added:ident] [$(($name:literal, $path:path, $ty:ident))+]) => {
        impl $config {
            /// Passes the model, with its concrete type, to `user`, so that the code of `user` is compiled for each model.
            pub fn give_to<U: $user>(&self, user: U) -> U::Output {
                match self {
                    $(Self::$ty(member) => user.take(member.clone()),)+
                    Self::Outside(member) => user.take_outside(member.any(), member.declares()),
                }
            }
        }
    };
    (@examples $config:ident $model:tt [] $members:tt) => {};
    (@examples $config:ident [$model:ident] [$examples:ident] [$(($name:literal, $path:path, $ty:ident))+]) => {
        impl $config {
            /// The example configurations of all registered models.
            pub fn $examples() -> Vec<Self> {
                let mut examples = Vec::new();
                $(examples.extend(<$path as $model>::$examples().into_iter().map(Self::$ty));)+
                examples
            }
        }
    };
    (@examples $config:ident [$model:ident] [$examples:ident of $wrap:ident] [$(($name:literal, $path:path, $ty:ident))+]) => {
        impl $config {
            /// The example configurations of all registered models.
            pub fn $examples() -> Vec<$wrap<Self>> {
                let mut examples = Vec::new();
                $(examples.extend(<$path as $model>::$examples().into_iter().map(|example| example.map(Self::$ty)));)+
                examples
            }
        }
    };
    (@added $config:ident $model:tt $declares:tt [] $facts:tt) => {};
    (@added $config:ident [$model:ident] $declares:tt [$added:ident] $facts:tt) => {
        #[doc = concat!("A line by which a crate adds a member to [`", stringify!($config), "`]: [`weft_units::add_model!`].")]
        pub struct $added {
            name: &'static str,
            declares: $crate::registry!(@kind $facts),
            read: fn(&Self, &mut dyn $crate::erased_serde::Deserializer<'_>) -> Result<$config, $crate::erased_serde::Error>,
            schema: fn() -> schemars::Schema,
        }

        $crate::inventory::collect!($added);

        impl $added {
            /// The entry for an added model of type `M`. The entry does not compile if a registered model has this name.
            pub const fn new<M: $model + $crate::outside::Configuration>(
                name: &'static str,
                declares: $crate::registry!(@kind $facts),
            ) -> Self {
                assert!(!$crate::outside::is_taken(name, $config::NAMES), "a registered model has this name: choose another one");
                Self {
                    name,
                    declares,
                    read: |added, text| {
                        let model: M = $crate::erased_serde::deserialize(text)?;
                        Ok($config::outside(added.name, added.declares, model))
                    },
                    schema: $crate::outside::schema_of::<M>,
                }
            }
        }

        impl $crate::outside::Addition<$config> for $added {
            fn name(&self) -> &'static str {
                self.name
            }

            fn read(
                &self,
                text: &mut dyn $crate::erased_serde::Deserializer<'_>,
            ) -> Result<$config, $crate::erased_serde::Error> {
                (self.read)(self, text)
            }

            fn schema(&self) -> schemars::Schema {
                (self.schema)()
            }
        }

        impl $crate::outside::Open for $config {
            type Added = $added;

            fn added() -> &'static [&'static $added] {
                static ALL: std::sync::LazyLock<Vec<&'static $added>> =
                    std::sync::LazyLock::new(|| $crate::outside::in_order::<$config, _>($crate::inventory::iter::<$added>()));
                &ALL
            }
        }

        impl $config {
            /// Creates the configuration of a model from another crate. The model need not be added to the family.
            pub fn outside<M: $model + $crate::outside::Configuration>(
                name: &'static str,
                declares: $crate::registry!(@kind $facts),
                model: M,
            ) -> Self {
                Self::Outside($crate::outside::Outside::new(name, model, declares, |model| model))
            }

            /// The names that a scenario can use: first of the registered models, in their order, then of the models from other crates.
            pub fn names() -> &'static [&'static str] {
                static NAMES: std::sync::LazyLock<Vec<&'static str>> =
                    std::sync::LazyLock::new(|| $crate::outside::names::<$config>($config::NAMES));
                &NAMES
            }

            /// The entry of the added model with this name.
            fn addition(name: &str) -> Option<&'static $added> {
                <Self as $crate::outside::Open>::added().iter().find(|added| added.name == name).copied()
            }
        }

        $crate::registry!(@all_declared $config $declares);
    };
    (@all_declared $config:ident []) => {};
    (@all_declared $config:ident [$table:ident: $kind:ty]) => {
        impl $config {
            /// Name and declared facts of each model: first the registered models, in their order, then the models from other crates.
            pub fn declared() -> impl Iterator<Item = (&'static str, $kind)> {
                let added = <Self as $crate::outside::Open>::added().iter().map(|added| (added.name, added.declares));
                Self::$table.iter().copied().chain(added)
            }
        }
    };
}
