/// Declares an enum with a word for each variant: `Variant = "word"`. Results use the word as the name of the variant. The list of all
/// words (`NAMES`) and the word of a variant (`name`) come from the same line. Therefore a new variant cannot be missing from `NAMES` or
/// `name`. Variants can have data.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $enum:ident {
        $($(#[$about:meta])* $member:ident $(($($held:ty),+))? $({ $($field:ident: $ty:ty),+ })? = $word:literal,)+
    }) => {
        $(#[$meta])*
        pub enum $enum {
            $($(#[$about])* $member $(($($held),+))? $({ $($field: $ty),+ })?,)+
        }

        impl $enum {
            /// The words of all variants, in the order of the variants.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// The word that results use for this variant.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$member { .. } => $word,)+ }
            }
        }
    };
}
