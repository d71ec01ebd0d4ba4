//! Tables and typed columns.

use std::collections::BTreeMap;

/// A table: a name and columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the table, as in `run.flows`.
    pub name: &'static str,
    /// What one row is.
    pub meaning: &'static str,
    /// The columns, all of the same length.
    pub columns: Vec<Column>,
}

impl Table {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// Whether the table has no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The cell of row `row` in the numeric column `name` as a number; `None` for text or out of range.
    pub fn number(&self, name: &str, row: usize) -> Option<f64> {
        match &self.column(name)?.data {
            ColumnData::U64(values) => values.get(row).map(|v| *v as f64),
            ColumnData::I64(values) => values.get(row).map(|v| *v as f64),
            ColumnData::F64(values) => values.get(row).copied(),
            ColumnData::Bool(values) => values.get(row).map(|v| f64::from(u8::from(*v))),
            ColumnData::Text { .. } => None,
        }
    }

    /// The cell of row `row` in the text column `name`; `None` for numbers or out of range.
    pub fn text(&self, name: &str, row: usize) -> Option<&str> {
        match &self.column(name)?.data {
            ColumnData::Text { codes, dictionary } => {
                dictionary.get(*codes.get(row)? as usize).map(String::as_str)
            }
            _ => None,
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, unique in the table.
    pub name: &'static str,
    /// Unit of the values, empty for names, counts without a unit and ratios.
    pub unit: &'static str,
    /// What a value says.
    pub meaning: &'static str,
    /// The values.
    pub data: ColumnData,
}

/// The values of a column, in one contiguous buffer each.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Unsigned integers.
    U64(Vec<u64>),
    /// Signed integers.
    I64(Vec<i64>),
    /// Floating point; not-a-number means "no value".
    F64(Vec<f64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Text, dictionary-encoded: row `i` reads `dictionary[codes[i]]`.
    Text {
        /// One index into the dictionary for each row.
        codes: Vec<u32>,
        /// The distinct texts (some may be unused).
        dictionary: Vec<String>,
    },
}

impl ColumnData {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Text { codes, .. } => codes.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the values.
    pub fn kind(&self) -> ColumnKind {
        match self {
            Self::U64(_) => ColumnKind::U64,
            Self::I64(_) => ColumnKind::I64,
            Self::F64(_) => ColumnKind::F64,
            Self::Bool(_) => ColumnKind::Bool,
            Self::Text { .. } => ColumnKind::Text,
        }
    }
}

/// The type of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ColumnKind {
    /// Unsigned 64-bit integers.
    U64,
    /// Signed 64-bit integers.
    I64,
    /// 64-bit floating point.
    F64,
    /// Truth values.
    Bool,
    /// Dictionary-encoded text.
    Text,
}

impl ColumnKind {
    /// The type's name in the documentation: `u64`, `i64`, `f64`, `bool` or `text`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
            Self::Bool => "bool",
            Self::Text => "text",
        }
    }
}

/// What a table holds, without data.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TableSchema {
    /// Name of the table.
    pub name: &'static str,
    /// What one row is.
    pub meaning: &'static str,
    /// Its columns in order.
    pub columns: Vec<ColumnSchema>,
}

/// What a column holds, without data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ColumnSchema {
    /// Name, unique in the table.
    pub name: &'static str,
    /// Type of the values.
    pub kind: ColumnKind,
    /// Unit, or empty.
    pub unit: &'static str,
    /// What a value says.
    pub meaning: &'static str,
}

/// A text as its index in the dictionary of the column it was interned in.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Code(pub u32);

/// A text column under construction.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    codes: Vec<u32>,
    dictionary: Vec<String>,
    index: BTreeMap<String, u32>,
}

impl TextColumn {
    /// Row `row`, which has been pushed, is to be `code`.
    pub fn revise(&mut self, row: usize, code: Code) {
        debug_assert!((code.0 as usize) < self.dictionary.len(), "the code was interned in another column");
        if let Some(cell) = self.codes.get_mut(row) {
            *cell = code.0;
        }
    }

    /// The code of `text`, added to the dictionary when new. The first text gets code 0, the next 1, ...
    pub fn intern(&mut self, text: &str) -> Code {
        if let Some(code) = self.index.get(text) {
            return Code(*code);
        }
        let code = self.dictionary.len() as u32;
        self.dictionary.push(text.to_owned());
        self.index.insert(text.to_owned(), code);
        Code(code)
    }
}

/// A type that can be a cell of a table.
pub trait TableCell {
    /// The column under construction.
    type Column: Default + Clone + std::fmt::Debug;
    /// The type in the schema.
    const KIND: ColumnKind;
    /// Appends the cell.
    fn push(self, column: &mut Self::Column);
    /// The finished values.
    fn finish(column: Self::Column) -> ColumnData;
}

macro_rules! plain_cell {
    ($type:ty, $variant:ident) => {
        impl TableCell for $type {
            type Column = Vec<$type>;
            const KIND: ColumnKind = ColumnKind::$variant;
            #[inline]
            fn push(self, column: &mut Self::Column) {
                column.push(self);
            }
            fn finish(column: Self::Column) -> ColumnData {
                ColumnData::$variant(column)
            }
        }
    };
}

plain_cell!(u64, U64);
plain_cell!(i64, I64);
plain_cell!(f64, F64);
plain_cell!(bool, Bool);

impl TableCell for Code {
    type Column = TextColumn;
    const KIND: ColumnKind = ColumnKind::Text;
    #[inline]
    fn push(self, column: &mut TextColumn) {
        debug_assert!((self.0 as usize) < column.dictionary.len(), "the code was interned in another column");
        column.codes.push(self.0);
    }
    fn finish(column: TextColumn) -> ColumnData {
        ColumnData::Text { codes: column.codes, dictionary: column.dictionary }
    }
}

/// Defines tables: for each a row, a builder that takes rows, and its schema. The doc comments are the
/// meanings.
macro_rules! tables {
    ($(
        $( #[doc = $table_meaning:literal] )+
        $row:ident, $builder:ident = $table:literal {
            $( $( #[doc = $meaning:literal] )+ $field:ident : $cell:ident in $unit:literal ),+ $(,)?
        }
    )+) => {
        $(
            $( #[doc = $table_meaning] )+
            #[derive(Clone, Copy, Debug)]
            pub struct $row {
                $( $( #[doc = $meaning] )+ pub $field: $cell, )+
            }

            #[doc = concat!("Builds the table `", $table, "` row by row; text is interned in its own column first.")]
            #[derive(Clone, Debug, Default)]
            pub struct $builder {
                $( $( #[doc = $meaning] )+ pub $field: <$cell as crate::column::TableCell>::Column, )+
            }

            impl $builder {
                /// Appends a row.
                #[inline]
                pub fn push(&mut self, row: $row) {
                    $( crate::column::TableCell::push(row.$field, &mut self.$field); )+
                }

                /// The finished table.
                pub fn finish(self) -> $crate::Table {
                    $crate::Table {
                        name: $table,
                        // The text of a doc comment begins with the space behind its slashes.
                        meaning: concat!($($table_meaning),+).trim_ascii(),
                        columns: vec![$( $crate::Column {
                            name: stringify!($field),
                            unit: $unit,
                            meaning: concat!($($meaning),+).trim_ascii(),
                            data: <$cell as crate::column::TableCell>::finish(self.$field),
                        } ),+],
                    }
                }

                /// The table's schema.
                pub fn schema() -> $crate::TableSchema {
                    $crate::TableSchema {
                        name: $table,
                        meaning: concat!($($table_meaning),+).trim_ascii(),
                        columns: vec![$( $crate::ColumnSchema {
                            name: stringify!($field),
                            kind: <$cell as crate::column::TableCell>::KIND,
                            unit: $unit,
                            meaning: concat!($($meaning),+).trim_ascii(),
                        } ),+],
                    }
                }
            }
        )+

        /// The tables of this list with their columns, in order.
        pub fn schema() -> Vec<$crate::TableSchema> {
            vec![$( $builder::schema() ),+]
        }
    };
}
pub(crate) use tables;
