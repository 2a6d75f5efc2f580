import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { filtersOf, type useView, withoutFilters } from './view.ts'

interface Props {
  resource: Resource
  pages: ReturnType<typeof useView>
  mayCreate: boolean
}

/** A table without rows: why, and what to do about it. */
export function Empty({ resource, pages, mayCreate }: Props) {
  const { view } = pages
  if (view.after !== undefined) return <NothingFollows resource={resource} onFirst={pages.first} />
  if (Object.keys(filtersOf(resource, view)).length > 0) {
    return (
      <div className="state">
        <h2>No {resource.one} matches</h2>
        <p>Every filter must hold at once.</p>
        <Button onPress={() => pages.change(withoutFilters(resource))}>Show all {resource.many}</Button>
      </div>
    )
  }
  return (
    <div className="state">
      <h2>No {resource.many} yet</h2>
      {mayCreate ? (
        <>
          <p>Create the first one, or import a file of them.</p>
          <div className="buttons">
            <Button className="button primary" onPress={() => pages.open('new')}>
              Create the first {resource.one}
            </Button>
            <Button onPress={() => pages.open('import')}>Import a file</Button>
          </div>
        </>
      ) : (
        <p>Your role does not create them: they will be here once somebody has.</p>
      )}
    </div>
  )
}

/** A page whose records are gone, or whose link is none of this service's. */
export function NothingFollows({ resource, onFirst }: { resource: Resource; onFirst: () => void }) {
  return (
    <div className="state">
      <h2>Nothing follows</h2>
      <p>The {resource.many} after this point are gone, or the link is of another list.</p>
      <Button onPress={onFirst}>To the first page</Button>
    </div>
  )
}
