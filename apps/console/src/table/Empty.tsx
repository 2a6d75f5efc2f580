import { Button } from 'react-aria-components'
import type { Resource } from '../resources/resource.ts'
import type { useView } from './view.ts'

interface Props {
  resource: Resource
  isFiltered: boolean
  isFirst: boolean
  pages: ReturnType<typeof useView>
}

/** A table without rows: why, and what to do about it. */
export function Empty({ resource, isFiltered, isFirst, pages }: Props) {
  if (!isFirst) {
    return (
      <div className="state">
        <h2>Nothing follows</h2>
        <p>The {resource.many} after this point are gone.</p>
        <Button className="button" onPress={pages.first}>
          To the first page
        </Button>
      </div>
    )
  }
  if (isFiltered) {
    const cleared = Object.fromEntries(resource.filters.map(({ name }) => [name, undefined]))
    return (
      <div className="state">
        <h2>No {resource.one} matches</h2>
        <p>Every filter must hold at once.</p>
        <Button className="button" onPress={() => pages.change(cleared)}>
          Show all {resource.many}
        </Button>
      </div>
    )
  }
  return (
    <div className="state">
      <h2>No {resource.many} yet</h2>
      <p>Create the first one, or import a file of them.</p>
      <div className="buttons">
        <Button className="button primary" onPress={() => pages.open('new')}>
          Create the first {resource.one}
        </Button>
        <Button className="button" onPress={() => pages.open('import')}>
          Import a file
        </Button>
      </div>
    </div>
  )
}
