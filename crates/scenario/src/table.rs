//! Tables as Parquet files: named columns of numbers and texts.

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;

pub(crate) enum Column {
    /// Numbers of which some may be absent (the router at a terminal's end).
    Maybe(Vec<Option<u32>>),
    MaybeCounts(Vec<Option<u64>>),
    Counts(Vec<u64>),
    Floats(Vec<f64>),
    Texts(Vec<Arc<str>>),
}

/// Writes columns of equal length as a Parquet file.
pub(crate) fn write<W: Write + Send>(name: &str, columns: &[(String, Column)], out: W) -> Result<(), ParquetError> {
    let fields = columns.iter().map(|(name, column)| column.field(name)).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for (_, column) in columns {
        column.write(&mut group)?;
    }
    group.close()?;
    file.close()?;
    Ok(())
}

impl Column {
    fn field(&self, name: &str) -> Result<Arc<Type>, ParquetError> {
        let (physical, meaning, repetition) = match self {
            Self::Maybe(_) => (Physical::INT32, ConvertedType::NONE, Repetition::OPTIONAL),
            Self::MaybeCounts(_) => (Physical::INT64, ConvertedType::NONE, Repetition::OPTIONAL),
            Self::Counts(_) => (Physical::INT64, ConvertedType::NONE, Repetition::REQUIRED),
            Self::Floats(_) => (Physical::DOUBLE, ConvertedType::NONE, Repetition::REQUIRED),
            Self::Texts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8, Repetition::REQUIRED),
        };
        let field = Type::primitive_type_builder(name, physical).with_converted_type(meaning);
        Ok(Arc::new(field.with_repetition(repetition).build()?))
    }

    fn write<W: Write + Send>(&self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
        let Some(mut writer) = group.next_column()? else {
            return Err(ParquetError::General("more columns than the schema has".to_owned()));
        };
        match self {
            Self::Maybe(values) => {
                let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
                let present: Vec<i32> = values.iter().flatten().map(|value| value.cast_signed()).collect();
                writer.typed::<Int32Type>().write_batch(&present, Some(&levels), None)?
            }
            Self::MaybeCounts(values) => {
                let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
                let present: Vec<i64> = values.iter().flatten().map(|&value| whole(value)).collect();
                writer.typed::<Int64Type>().write_batch(&present, Some(&levels), None)?
            }
            Self::Counts(values) => {
                let values: Vec<i64> = values.iter().map(|&value| whole(value)).collect();
                writer.typed::<Int64Type>().write_batch(&values, None, None)?
            }
            Self::Floats(values) => writer.typed::<DoubleType>().write_batch(values, None, None)?,
            Self::Texts(values) => {
                let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(&**value)).collect();
                writer.typed::<ByteArrayType>().write_batch(&values, None, None)?
            }
        };
        writer.close()
    }
}

/// Parquet's whole numbers have a sign.
fn whole(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
