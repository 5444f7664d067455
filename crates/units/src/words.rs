/// Declares an enum that has a word for each member: `Member = "word"`. Results name a member by its word. The list of all words
/// (`NAMES`) and the word of a member (`name`) come from the line of the member. So a new member is in both or does not compile. Members
/// may hold data.
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
            /// The words of all members, in the order of the members.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// The word by which results name this member.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$member { .. } => $word,)+ }
            }
        }
    };
}
