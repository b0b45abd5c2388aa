// Reads an image of 28 by 28 floats from standard input and prints the digit that samples/mnist sees in it.
use std::ffi::CStr;
use std::io::Read;
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};

const MAX_RANK: usize = 8;

// What mnist.h declares, as far as it is used here.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    dtype: i32,
    rank: i32,
    dims: [i64; MAX_RANK],
    capacity: i64,
}

#[repr(C)]
struct PortInfo {
    name: *const c_char,
    dtype: i32,
    rank: i32,
    dims: [i64; MAX_RANK],
    dim_texts: [*const c_char; MAX_RANK],
    has_default: i32,
    optional_axes: i32,
}

extern "C" {
    fn mnist_create(
        options: *const c_void,
        context: *mut *mut c_void,
        error: *mut c_char,
        bytes: usize,
    ) -> i32;
    fn mnist_destroy(context: *mut c_void);
    fn mnist_error(context: *const c_void) -> *const c_char;
    fn mnist_input(index: i32, info: *mut PortInfo) -> i32;
    fn mnist_run_tensors(
        context: *mut c_void,
        inputs: *const Tensor,
        input_count: i32,
        outputs: *mut Tensor,
        output_count: i32,
    ) -> i32;
}

/// The model with what its runs need, which end together.
struct Mnist(*mut c_void);

impl Mnist {
    fn new() -> Result<Mnist, String> {
        let mut context = null_mut();
        let mut error = [0 as c_char; 256];
        match unsafe { mnist_create(null(), &mut context, error.as_mut_ptr(), error.len()) } {
            0 => Ok(Mnist(context)),
            _ => Err(text(error.as_ptr())),
        }
    }

    /// The scores lie in the context until its next run, which needs it alone.
    fn run(&mut self, image: &mut [f32]) -> Result<&[f32], String> {
        let empty = || Tensor {
            data: null_mut(),
            dtype: 0,
            rank: 0,
            dims: [0; MAX_RANK],
            capacity: 0,
        };
        let mut port: PortInfo = unsafe { std::mem::zeroed() };
        let (mut input, mut output) = (empty(), empty());
        unsafe { mnist_input(0, &mut port) };
        input.data = image.as_mut_ptr() as *mut c_void;
        input.dtype = port.dtype;
        input.rank = port.rank;
        input.dims = port.dims;
        assert_eq!(
            image.len() as i64,
            port.dims[..port.rank as usize].iter().product::<i64>()
        );
        match unsafe { mnist_run_tensors(self.0, &input, 1, &mut output, 1) } {
            0 => {
                let count = output.dims[..output.rank as usize].iter().product::<i64>();
                Ok(
                    unsafe {
                        std::slice::from_raw_parts(output.data as *const f32, count as usize)
                    },
                )
            }
            _ => Err(text(unsafe { mnist_error(self.0) })),
        }
    }
}

impl Drop for Mnist {
    fn drop(&mut self) {
        unsafe { mnist_destroy(self.0) }
    }
}

fn text(line: *const c_char) -> String {
    unsafe { CStr::from_ptr(line) }
        .to_string_lossy()
        .into_owned()
}

fn main() -> Result<(), String> {
    let mut bytes = [0; 28 * 28 * 4];
    std::io::stdin()
        .read_exact(&mut bytes)
        .map_err(|error| error.to_string())?;
    let mut image: Vec<f32> = bytes
        .chunks(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let mut model = Mnist::new()?;
    let scores = model.run(&mut image)?;
    let best = (0..scores.len())
        .max_by(|&a, &b| scores[a].total_cmp(&scores[b]))
        .unwrap();
    println!("{}", best);
    Ok(())
}
