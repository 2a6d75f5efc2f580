export { type Chunk, chunks } from './chunks.ts'
export { guessColumns, IMPORT_COLUMNS, IMPORT_ERROR, IMPORT_LINE } from './columns.ts'
export { csvText, firstCsvRows, isUtf16, namedDelimiter, type Text } from './csv.ts'
export { ImportError } from './error.ts'
export {
  ID,
  type ImportField,
  importFields,
  kindOf,
  type Mode,
  requiredFields,
  type Target,
  targetOf,
} from './fields.ts'
export { assignColumns, guessDelimiter, type Layout, numberTexts, recordOf } from './layout.ts'
export { findDecimalComma, withDecimalPoint } from './numbers.ts'
export { type RemainingRow, remainingText } from './remaining.ts'
export { type RowResult, rowError } from './results.ts'
export {
  columnNames,
  FORMATS,
  type Format,
  faultsIn,
  parseValue,
  type Row,
  rowReader,
  type SourceRow,
  sourceRows,
} from './rows.ts'
export { doubtOf, groupOf, isUnreachable, NOTHING_SENT, type Progress, sendChunk } from './send.ts'
