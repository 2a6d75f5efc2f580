// The panels of a list's toolbar and rows, in one chunk.
export { ConditionForm } from './ConditionForm.tsx'
export { Filters } from './Filters.tsx'
export { RowMenu } from './RowMenu.tsx'
export { ViewOptions } from './ViewOptions.tsx'
