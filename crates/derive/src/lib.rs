//! Derive macros for the traits `Kept` and `Value` of the engine (`api/src/base/kept.rs`). The traits define how a checkpoint of a run
//! stores objects of a type, and how it restores them.
//!
//! The derived code stores every field, unless an attribute gives a reason to omit it. Therefore a field that a programmer adds later is
//! stored, or the code does not compile. These attributes exist for fields:
//! - `#[kept(fixed)]`: the field follows from the scenario and never changes during a run, so it is not stored.
//! - `#[kept(scratch)]`: no code reads the content of the field in a later cycle, so it is not stored.
//! - `#[kept(each)]`: the field is a list whose length follows from the scenario. Each element of this list is restored
//!   in place.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, Field, Fields, GenericParam, Ident, Index, Result, parse_macro_input, parse_quote,
};

/// Derives `Kept` for a type whose objects already exist after the network is assembled. The derived code restores each object in place.
#[proc_macro_derive(Kept, attributes(kept))]
pub fn kept(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    in_place(input).unwrap_or_else(Error::into_compile_error).into()
}

/// Derives `Value` for a type whose objects are created only when they are read from a checkpoint. Examples are the items of a list that
/// grows and shrinks, and choices made during a run.
#[proc_macro_derive(Value)]
pub fn value(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    as_value(input).unwrap_or_else(Error::into_compile_error).into()
}

/// How the derived code stores a field in a checkpoint.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Whole,
    Each,
    Not,
}

fn how(field: &Field) -> Result<How> {
    let mut how = How::Whole;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("kept")) {
        let word: Ident = attribute.parse_args()?;
        how = match word.to_string().as_str() {
            "fixed" | "scratch" => How::Not,
            "each" => How::Each,
            _ => return Err(Error::new(word.span(), "write `fixed`, `scratch` or `each`")),
        };
    }
    Ok(how)
}

/// The name of a field; in a tuple struct, its index.
fn member(place: usize, field: &Field) -> Tokens {
    let index = Index::from(place);
    field.ident.as_ref().map_or_else(|| quote!(#index), |name| quote!(#name))
}

fn in_place(mut input: DeriveInput) -> Result<Tokens> {
    of_values(&mut input);
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(
            input.ident.span(),
            "derive `Value`, or implement by hand how an enum is restored in place",
        ));
    };
    let (mut keeps, mut restores) = (Vec::new(), Vec::new());
    for (place, field) in data.fields.iter().enumerate() {
        // the generated code gets the position of the field (`at`), so that errors of the compiler point to the field
        let (member, at) = (member(place, field), field.ty.span());
        match how(field)? {
            How::Whole => {
                keeps.push(quote_spanned!(at=> ::weft_api::base::kept::Kept::keep(&self.#member, to);));
                restores.push(quote_spanned!(at=> ::weft_api::base::kept::Kept::restore(&mut self.#member, from)?;));
            }
            How::Each => {
                keeps.push(quote_spanned!(at=> ::weft_api::base::kept::Kept::keep(self.#member.as_slice(), to);));
                restores.push(
                    quote_spanned!(at=> ::weft_api::base::kept::Kept::restore(self.#member.as_mut_slice(), from)?;),
                );
            }
            How::Not => {}
        }
    }
    let name = &input.ident;
    let (generics, types, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        impl #generics ::weft_api::base::kept::Kept for #name #types #bounds {
            #[allow(unused_variables, reason = "all of it may follow from the scenario")]
            fn keep(&self, to: &mut ::weft_api::base::kept::Writer) {
                #(#keeps)*
            }

            #[allow(unused_variables, reason = "all of it may follow from the scenario")]
            fn restore(
                &mut self,
                from: &mut ::weft_api::base::kept::Reader<'_>,
            ) -> ::core::result::Result<(), ::weft_api::base::kept::Unreadable> {
                #(#restores)*
                Ok(())
            }
        }
    })
}

/// Code for all fields together: the patterns that bind them, the calls of `keep`, and the constructor that reads each field.
fn whole(fields: &Fields) -> (Tokens, Tokens, Tokens) {
    let bound: Vec<Ident> = (0..fields.len()).map(|place| format_ident!("part{place}")).collect();
    let members: Vec<Tokens> = fields.iter().enumerate().map(|(place, field)| member(place, field)).collect();
    let reads = quote!({ #(#members: ::weft_api::base::kept::Value::read(from)?),* });
    (quote!({ #(#members: #bound),* }), quote!(#(::weft_api::base::kept::Kept::keep(#bound, to);)*), reads)
}

/// Adds the bound `Value` to the type parameters of a generic type, because its fields can have these types.
fn of_values(input: &mut DeriveInput) {
    for parameter in &mut input.generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(parse_quote!(::weft_api::base::kept::Value));
        }
    }
}

fn as_value(mut input: DeriveInput) -> Result<Tokens> {
    of_values(&mut input);
    let (keeps, reads) = match &input.data {
        Data::Struct(data) => {
            let (pattern, keeps, reads) = whole(&data.fields);
            (quote!(let Self #pattern = self; #keeps), quote!(Ok(Self #reads)))
        }
        Data::Enum(data) => {
            let (mut writes, mut tags) = (Vec::new(), Vec::new());
            for (number, variant) in (0u8..).zip(&data.variants) {
                let (name, (pattern, keeps, reads)) = (&variant.ident, whole(&variant.fields));
                writes
                    .push(quote!(Self::#name #pattern => { ::weft_api::base::kept::Kept::keep(&#number, to); #keeps }));
                tags.push(quote!(#number => Ok(Self::#name #reads),));
            }
            let unknown = quote!(_ => Err(::weft_api::base::kept::Unreadable),);
            let tag = quote!(<u8 as ::weft_api::base::kept::Value>::read(from)?);
            (quote!(match self { #(#writes)* }), quote!(match #tag { #(#tags)* #unknown }))
        }
        Data::Union(_) => return Err(Error::new(input.ident.span(), "a union can't be kept")),
    };
    let name = &input.ident;
    let (generics, types, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        impl #generics ::weft_api::base::kept::Kept for #name #types #bounds {
            fn keep(&self, to: &mut ::weft_api::base::kept::Writer) {
                #keeps
            }

            fn restore(
                &mut self,
                from: &mut ::weft_api::base::kept::Reader<'_>,
            ) -> ::core::result::Result<(), ::weft_api::base::kept::Unreadable> {
                *self = ::weft_api::base::kept::Value::read(from)?;
                Ok(())
            }
        }

        impl #generics ::weft_api::base::kept::Value for #name #types #bounds {
            fn read(
                from: &mut ::weft_api::base::kept::Reader<'_>,
            ) -> ::core::result::Result<Self, ::weft_api::base::kept::Unreadable> {
                #reads
            }
        }
    })
}
