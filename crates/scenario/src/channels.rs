//! The table of channels: one row per direction of each link, over the measured window; written as Parquet.

use crate::energy::Energy;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;
use weft_engine::outcome::ChannelCount;
use weft_engine::power::LinkState;

/// One direction of a link.
#[derive(Debug, Clone)]
pub struct Channel {
    pub count: ChannelCount,
    pub link_class: Arc<str>,
    pub energy: Energy,
}

/// All channels of a run.
#[derive(Debug, Clone)]
pub struct Channels {
    pub rows: Vec<Channel>,
    /// Length of the window, in cycles.
    pub window: u64,
}

enum Column {
    /// Where something may be absent (the router at a terminal's end).
    Maybe(Vec<Option<u32>>),
    Counts(Vec<u64>),
    Floats(Vec<f64>),
    Texts(Vec<Arc<str>>),
}

impl Channels {
    /// Names and values. `from_port` of an injection channel and `to_port` of an ejection channel are null: their end
    /// is the `terminal`. Energies are exact: a scenario whose window could overflow 63 bits is refused.
    fn columns(&self) -> Vec<(String, Column)> {
        let maybe =
            |of: fn(&ChannelCount) -> Option<u32>| Column::Maybe(self.rows.iter().map(|r| of(&r.count)).collect());
        let energy = |of: fn(&Energy) -> u128| {
            Column::Counts(self.rows.iter().map(|row| of(&row.energy).try_into().unwrap_or(u64::MAX)).collect())
        };
        let flits = |row: &Channel| row.count.flits.iter().sum::<u64>();
        let utilisation = |row: &Channel| flits(row) as f64 / self.window.max(1) as f64;
        let mut columns = vec![
            ("channel".to_owned(), Column::Counts((0..self.rows.len() as u64).collect())),
            ("link_class".to_owned(), Column::Texts(self.rows.iter().map(|row| row.link_class.clone()).collect())),
            ("from_router".to_owned(), maybe(|count| count.from)),
            ("from_port".to_owned(), maybe(|count| count.from.map(|_| count.from_port))),
            ("to_router".to_owned(), maybe(|count| count.to)),
            ("to_port".to_owned(), maybe(|count| count.to.map(|_| count.to_port))),
            ("terminal".to_owned(), maybe(terminal)),
            ("flits".to_owned(), Column::Counts(self.rows.iter().map(flits).collect())),
            ("utilisation".to_owned(), Column::Floats(self.rows.iter().map(utilisation).collect())),
        ];
        for (what, of) in [("cycles", cycles as fn(&ChannelCount) -> &[u64]), ("flits", flits_by_state)] {
            for state in LinkState::ALL {
                let values = self.rows.iter().map(|row| of(&row.count)[state as usize]).collect();
                columns.push((format!("{what}_{}", state.name()), Column::Counts(values)));
            }
        }
        columns
            .push(("transitions".to_owned(), Column::Counts(self.rows.iter().map(|r| r.count.transitions).collect())));
        columns.push(("energy_static_fj".to_owned(), energy(|energy| energy.standing_fj)));
        columns.push(("energy_dynamic_fj".to_owned(), energy(|energy| energy.dynamic_fj)));
        columns.push(("energy_fj".to_owned(), energy(Energy::total_fj)));
        columns
    }

    /// Writes the table as a Parquet file.
    pub fn write<W: Write + Send>(&self, out: W) -> Result<(), ParquetError> {
        let columns = self.columns();
        let fields = columns.iter().map(|(name, column)| column.field(name)).collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder("channels").with_fields(fields).build()?);
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
        let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
        let mut group = file.next_row_group()?;
        for (_, column) in &columns {
            column.write(&mut group)?;
        }
        group.close()?;
        file.close()?;
        Ok(())
    }
}

fn terminal(count: &ChannelCount) -> Option<u32> {
    match (count.from, count.to) {
        (None, _) => Some(count.from_port),
        (_, None) => Some(count.to_port),
        _ => None,
    }
}

fn cycles(count: &ChannelCount) -> &[u64] {
    &count.cycles
}

fn flits_by_state(count: &ChannelCount) -> &[u64] {
    &count.flits
}

impl Column {
    fn field(&self, name: &str) -> Result<Arc<Type>, ParquetError> {
        let (physical, meaning, repetition) = match self {
            Self::Maybe(_) => (Physical::INT32, ConvertedType::NONE, Repetition::OPTIONAL),
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
            Self::Counts(values) => {
                let values: Vec<i64> = values.iter().map(|value| i64::try_from(*value).unwrap_or(i64::MAX)).collect();
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
