import { contract } from '@resource/contract'
import { ChevronDown, ChevronRight, ChevronUp } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import type { Resource } from '../resources/resource.ts'
import { useAllows } from '../table/permissions.ts'
import { useRecord } from '../table/queries.ts'
import { Button } from '../ui/Button.tsx'
import { useShownState } from '../ui/shown-location.tsx'
import { type Neighbor, useNeighbors } from './neighbors.ts'
import { RecordHistory } from './RecordHistory.tsx'
import { RecordView } from './RecordView.tsx'
import { References } from './References.tsx'

interface Props {
  resource: Resource
  id: number
}

/** The page of one record: its fields, its history, what refers to it, and all actions on it. */
export default function RecordPage({ resource, id }: Props) {
  const [, navigate] = useLocation()
  const { from } = useShownState<{ from?: string } | null>() ?? {}
  const hasHistory = useAllows(contract.audit.procedures.list)
  const { data: standing } = useNeighbors(resource, id, from)
  const isMissing = useRecord(resource, id).isLoadingError
  const list = `/${resource.noun}${from ?? ''}`
  const go = (to: Neighbor | undefined) => {
    if (to !== undefined) navigate(`/${resource.noun}/${to.id}`, { state: { from: to.from } })
  }
  return (
    <div className="page wide record-page">
      <nav className="row crumbs" aria-label="Breadcrumb">
        <Link href={list} state={{ row: id }}>
          {resource.title}
        </Link>
        <ChevronRight />
        <span aria-current="page">{id}</span>
        <span className="gap" />
        {!isMissing && standing !== undefined && (
          <span className="position">
            {standing.position.toLocaleString('en')} of {standing.total.toLocaleString('en')}
          </span>
        )}
        <Button
          className="button ghost icon small"
          icon={ChevronUp}
          aria-label={`Previous ${resource.one}`}
          isDisabled={isMissing || standing?.previous === undefined}
          onPress={() => go(standing?.previous)}
        />
        <Button
          className="button ghost icon small"
          icon={ChevronDown}
          aria-label={`Next ${resource.one}`}
          isDisabled={isMissing || standing?.next === undefined}
          onPress={() => go(standing?.next)}
        />
      </nav>
      {/* The key keeps no state of another record, the frame keeps the focus. */}
      <RecordView key={id} resource={resource} id={id} list={list} hasHistory={hasHistory}>
        {hasHistory && <RecordHistory resource={resource} id={id} isStored={!isMissing} />}
        <References resource={resource} id={id} />
      </RecordView>
    </div>
  )
}
