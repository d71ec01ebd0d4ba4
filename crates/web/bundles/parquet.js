// The writer of Parquet, as results.js calls it.
export { parquetWriteBuffer } from "hyparquet-writer";
