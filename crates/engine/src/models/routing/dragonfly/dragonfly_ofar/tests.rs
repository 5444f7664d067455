//! Tests of what packets may do under OFAR.
