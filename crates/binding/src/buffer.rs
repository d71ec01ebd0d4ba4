//! Read-only views of result columns for Python's buffer protocol: Arrow arrays are built on them without a
//! copy.

use std::ffi::{c_int, c_void};
use std::fmt;

use cogtcp_captures::Data;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The bytes of one column, owned by Python from here on and never changed again.
#[pyclass(frozen, module = "cogtcp._core")]
pub(crate) struct Buffer {
    values: Values,
}

enum Values {
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    U32(Vec<u32>),
    Bool(Vec<bool>),
}

impl Values {
    /// Start and length in bytes of the memory that holds the values.
    fn as_raw(&self) -> (*const c_void, usize) {
        match self {
            Values::U64(v) => (v.as_ptr().cast(), size_of_val(v.as_slice())),
            Values::I64(v) => (v.as_ptr().cast(), size_of_val(v.as_slice())),
            Values::F64(v) => (v.as_ptr().cast(), size_of_val(v.as_slice())),
            Values::U32(v) => (v.as_ptr().cast(), size_of_val(v.as_slice())),
            Values::Bool(v) => (v.as_ptr().cast(), size_of_val(v.as_slice())),
        }
    }
}

impl Buffer {
    /// Returns the values for a capture; of text with the dictionary.
    pub(crate) fn data<'a>(&'a self, dictionary: &'a [String]) -> Data<'a> {
        match &self.values {
            Values::U64(values) => Data::U64(values),
            Values::I64(values) => Data::I64(values),
            Values::F64(values) => Data::F64(values),
            Values::U32(values) => Data::Text(values, dictionary),
            Values::Bool(values) => Data::Bool(values),
        }
    }
}

macro_rules! from_vec {
    ($($type:ty => $variant:ident),*) => {
        $(impl From<Vec<$type>> for Buffer {
            fn from(values: Vec<$type>) -> Self {
                Buffer { values: Values::$variant(values) }
            }
        })*
    };
}
from_vec!(u64 => U64, i64 => I64, f64 => F64, u32 => U32, bool => Bool);

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("bytes", &self.values.as_raw().1).finish()
    }
}

#[pymethods]
impl Buffer {
    fn __len__(&self) -> usize {
        self.values.as_raw().1
    }

    // SAFETY: Python calls this with a valid `view`. The memory behind it belongs to the frozen `slf`, to
    // which PyBuffer_FillInfo adds a reference that lives as long as the view; nothing can change or free it
    // meanwhile.
    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view to fill"));
        }
        let (start, bytes) = slf.get().values.as_raw();
        let bytes =
            ffi::Py_ssize_t::try_from(bytes).map_err(|_| PyBufferError::new_err("column too large"))?;
        // Read-only (1): the cast serves C's signature, and Python refuses to write.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start.cast_mut(), bytes, 1, flags) };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
