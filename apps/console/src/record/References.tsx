import { ChevronRight } from 'lucide-react'
import { Link } from 'wouter'
import { resources } from '../resources/index.ts'
import type { Resource } from '../resources/resource.ts'
import { useCount } from '../table/queries.ts'

interface Props {
  resource: Resource
  id: number
}

/** How many records refer to a record, with links to them. Nothing if the contract declares no such reference. */
export function References({ resource, id }: Props) {
  const references = referencesTo(resource)
  if (references.length === 0) return null
  return (
    <section className="in-links" aria-labelledby="references">
      <div className="row section-head">
        <h2 id="references">Referred to by</h2>
      </div>
      <ul className="links">
        {references.map(({ from, field }) => (
          <Reference key={`${from.noun}.${field}`} from={from} field={field} id={id} />
        ))}
      </ul>
    </section>
  )
}

function Reference({ from, field, id }: { from: Resource; field: string; id: number }) {
  const { data: count } = useCount(from, { [field]: id })
  return (
    <li>
      <Link className="row" href={`/${from.noun}?${field}=${id}`}>
        <span>
          {from.title} <span className="faint">{field}</span>
        </span>
        <small>{count?.toLocaleString('en')}</small>
        <ChevronRight />
      </Link>
    </li>
  )
}

/** The fields that refer to a collection, if lists can be filtered by them. */
function referencesTo({ noun }: Resource): { from: Resource; field: string }[] {
  return resources.flatMap((from) =>
    Object.entries(from.references)
      .filter(([field, to]) => to === noun && from.filters.some(({ name }) => name === field))
      .map(([field]) => ({ from, field })),
  )
}
