// The panels of a list's toolbar, in one chunk.
export { ConditionForm } from './ConditionForm.tsx'
export { Filters } from './Filters.tsx'
export { ViewOptions } from './ViewOptions.tsx'
