//! Writes tables as Parquet files.

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{
    ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;
use weft_engine::recording::Column;
use weft_units::ENERGY_DECIMALS;

/// Number of decimal digits in the column type of energies; every number of 38 digits fits into 128 bits.
const ENERGY_DIGITS: i32 = 38;

/// Writes columns of equal length as a Parquet file.
pub(crate) fn write<W: Write + Send>(name: &str, columns: &[(String, Column)], out: W) -> Result<(), ParquetError> {
    write_parts(name, std::iter::once(columns), out)
}

/// Writes a table as a Parquet file. Each part consists of some rows of the table, and becomes a row group of the file. All parts have the
/// same columns as the first part.
pub(crate) fn write_parts<C: AsRef<[(String, Column)]>, W: Write + Send>(
    name: &str,
    parts: impl Iterator<Item = C>,
    out: W,
) -> Result<(), ParquetError> {
    let mut parts = parts.peekable();
    let columns = parts.peek().map_or(&[][..], AsRef::as_ref);
    let fields = columns.iter().map(|(name, column)| field(name, column)).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
    for part in parts {
        let mut group = file.next_row_group()?;
        for (_, column) in part.as_ref() {
            write_cells(column, &mut group)?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

fn field(name: &str, column: &Column) -> Result<Arc<Type>, ParquetError> {
    let (physical, meaning, repetition) = match column {
        Column::Energies(_) => {
            let decimal = Type::primitive_type_builder(name, Physical::FIXED_LEN_BYTE_ARRAY)
                .with_length(size_of::<u128>() as i32)
                .with_converted_type(ConvertedType::DECIMAL)
                .with_precision(ENERGY_DIGITS)
                .with_scale(ENERGY_DECIMALS as i32);
            return Ok(Arc::new(decimal.with_repetition(Repetition::REQUIRED).build()?));
        }
        Column::MaybeNumbers(_) | Column::Routers(_) => (Physical::INT32, ConvertedType::NONE, Repetition::OPTIONAL),
        Column::MaybeCounts(_) => (Physical::INT64, ConvertedType::NONE, Repetition::OPTIONAL),
        Column::Counts(_) => (Physical::INT64, ConvertedType::NONE, Repetition::REQUIRED),
        Column::Floats(_) => (Physical::DOUBLE, ConvertedType::NONE, Repetition::REQUIRED),
        Column::Texts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8, Repetition::REQUIRED),
        Column::MaybeTexts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8, Repetition::OPTIONAL),
    };
    let field = Type::primitive_type_builder(name, physical).with_converted_type(meaning);
    Ok(Arc::new(field.with_repetition(repetition).build()?))
}

fn write_cells<W: Write + Send>(
    column: &Column,
    group: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".to_owned()));
    };
    match column {
        Column::MaybeNumbers(values) | Column::Routers(values) => {
            let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
            let present: Vec<i32> = values.iter().flatten().map(|value| value.cast_signed()).collect();
            writer.typed::<Int32Type>().write_batch(&present, Some(&levels), None)?
        }
        Column::MaybeCounts(values) => {
            let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
            let present: Vec<i64> = values.iter().flatten().map(|&value| whole(value)).collect();
            writer.typed::<Int64Type>().write_batch(&present, Some(&levels), None)?
        }
        Column::Counts(values) => {
            let values: Vec<i64> = values.iter().map(|&value| whole(value)).collect();
            writer.typed::<Int64Type>().write_batch(&values, None, None)?
        }
        Column::Floats(values) => writer.typed::<DoubleType>().write_batch(values, None, None)?,
        Column::Energies(values) => {
            let cell = |value: &u128| FixedLenByteArray::from(value.to_be_bytes().to_vec());
            let values: Vec<FixedLenByteArray> = values.iter().map(cell).collect();
            writer.typed::<FixedLenByteArrayType>().write_batch(&values, None, None)?
        }
        Column::Texts(values) => {
            let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(&**value)).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, None, None)?
        }
        Column::MaybeTexts(values) => {
            let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
            let present: Vec<ByteArray> = values.iter().flatten().map(|value| ByteArray::from(&**value)).collect();
            writer.typed::<ByteArrayType>().write_batch(&present, Some(&levels), None)?
        }
    };
    writer.close()
}

/// Converts a count to a signed integer, because Parquet's integers are signed.
fn whole(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
