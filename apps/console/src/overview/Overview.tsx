import { lazy, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { useFirstRun } from '../first-run/progress.ts'
import { resources } from '../resources/index.ts'
import { useIsAfter } from '../ui/later.tsx'
import { useTitle } from '../ui/title.ts'
import { Breakdown } from './Breakdown.tsx'
import { Health } from './Health.tsx'
import { RecentChanges } from './RecentChanges.tsx'
import { Totals } from './Totals.tsx'

const FirstRun = lazy(() => import('../first-run/FirstRun.tsx'))
const nothing = () => ({ default: () => null })
const UnfinishedImport = lazy(() =>
  import('../transfer/UnfinishedImport.tsx').then(({ UnfinishedImport }) => ({ default: UnfinishedImport }), nothing),
)

// Longer, and the page shows that the service does not answer.
const PATIENCE_MS = 1_000

/** The state of the service: its health, its records, what has changed. Before the first records, what to do first. */
export default function Overview() {
  const isFirstRun = useFirstRun()
  const isLate = useIsAfter(PATIENCE_MS)
  useTitle('Overview')
  if (isFirstRun === undefined && !isLate) return null
  if (isFirstRun) {
    return (
      <Suspense>
        <FirstRun />
      </Suspense>
    )
  }
  return <InUse isLate={isLate} />
}

/** @param isLate whether the page was empty so long that pictures of its data show at once */
function InUse({ isLate }: { isLate: boolean }) {
  const [, navigate] = useLocation()
  // One time of loading for all figures, so that they belong to the same days.
  const [openedMs] = useState(Date.now)
  return (
    <div className={`page wide${isLate ? ' late' : ''}`}>
      <div className="row page-head">
        <div>
          <h1>Overview</h1>
          <Health />
        </div>
      </div>
      <Suspense>
        {resources.map((resource) => (
          <UnfinishedImport
            key={resource.noun}
            resource={resource}
            onContinue={() => navigate(`/${resource.noun}?open=import`)}
          />
        ))}
      </Suspense>
      <Totals nowMs={openedMs} />
      <div className="overview-columns">
        <RecentChanges />
        <Breakdown />
      </div>
    </div>
  )
}
