//! Asking for memory before it is needed: the one place of the model crates with unsafe code.

/// Bytes that the processor fetches at once.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Asks the processor to bring the first `lines` cache lines of `place` near. A hint: nothing is read,
/// nothing changes, and processors other than x86-64 are not asked.
#[inline(always)]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the instruction has no safe name"))]
pub fn prefetch<T: ?Sized>(place: &T, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(place).cast::<i8>();
        for line in 0..lines {
            // SAFETY: the instruction reads nothing that the program can see and faults at no address,
            // whether memory is there or not; the address is computed without a claim that it lies in an
            // object.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, lines);
}
