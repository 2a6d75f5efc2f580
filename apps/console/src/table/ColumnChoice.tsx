import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { usePreferences } from '../ui/preferences.ts'
import type { useColumns } from './shown-columns.ts'

interface Props {
  resource: Resource
  columns: ReturnType<typeof useColumns>
}

/** The choice of columns and density, which this browser keeps. */
export function ColumnChoice({ resource, columns }: Props) {
  const density = usePreferences((preferences) => preferences.density)
  return (
    <>
      <fieldset>
        <legend>Columns</legend>
        {resource.recordColumns
          .filter(({ field }) => field !== resource.nameField)
          .map((column) => (
            <label key={column.field} className="inline">
              <input type="checkbox" checked={columns.isShown(column)} onChange={() => columns.toggle(column.field)} />
              <span>{column.label}</span>
            </label>
          ))}
      </fieldset>
      <label className="inline">
        <input
          type="checkbox"
          checked={density === 'compact'}
          onChange={() => usePreferences.setState({ density: density === 'compact' ? 'comfortable' : 'compact' })}
        />
        <span>Compact rows</span>
      </label>
      {!columns.isInitial && <Button onPress={columns.reset}>Reset columns</Button>}
    </>
  )
}
