import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { type SavedView, usePreferences } from '../ui/preferences.ts'
import { listQueryOf, type View } from './view.ts'

interface Props {
  resource: Resource
  view: View
}

const NONE: SavedView[] = []

/** Filters and sort orders that this browser keeps by name. */
export function SavedViews({ resource: { noun, many }, view }: Props) {
  const views = usePreferences((preferences) => preferences.views[noun]) ?? NONE
  const [name, setName] = useState('')
  const query = listQueryOf(view)
  const set = (next: SavedView[]) => usePreferences.setState(({ views: all }) => ({ views: { ...all, [noun]: next } }))
  const others = (removed: string) => views.filter((saved) => saved.name !== removed)
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '') return
    set([...others(name.trim()), { name: name.trim(), query }])
    setName('')
  }
  return (
    <>
      <form className="filter" onSubmit={save}>
        <label className="filter">
          <span>Name of this view</span>
          <input value={name} maxLength={60} onChange={(event) => setName(event.target.value)} />
        </label>
        <Button type="submit">Save view</Button>
      </form>
      {views.length === 0 ? (
        <p className="hint">A saved view keeps the search, filters and sort order of the {many} in this browser.</p>
      ) : (
        <ul className="saved-views" aria-label="Saved views">
          {views.map((saved) => (
            <li key={saved.name}>
              <Link href={`/${noun}?${saved.query}`} aria-current={saved.query === query ? 'true' : undefined}>
                {saved.name}
              </Link>
              <Button
                className="quiet"
                aria-label={`Delete the view ${saved.name}`}
                onPress={() => set(others(saved.name))}
              >
                <span aria-hidden="true">×</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
