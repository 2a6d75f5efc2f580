import { lazy, Suspense, useEffect } from 'react'
import { ErrorBoundary } from 'react-error-boundary'
import { Route, Router, Switch, useLocation } from 'wouter'
import { ResourcePage } from './ResourcePage.tsx'
import { resources } from './resources/index.ts'
import { useSession } from './session/session.ts'
import { ErrorFallback } from './shell/ErrorFallback.tsx'
import { NotFound } from './shell/NotFound.tsx'
import { Shell } from './shell/Shell.tsx'
import { LazyDialog } from './ui/LazyDialog.tsx'
import { ShownLocation } from './ui/shown-location.tsx'
import { useHeldLocation, useHeldSearch } from './ui/unsaved.ts'

const loadRecordPage = () => import('./record/RecordPage.tsx')
const RecordPage = lazy(loadRecordPage)
const loadLoginDialog = () => import('./session/LoginDialog.tsx')
const LoginDialog = lazy(loadLoginDialog)
const LoginPage = lazy(() => import('./session/LoginPage.tsx'))
const Overview = lazy(() => import('./overview/Overview.tsx'))
const ProposalsPage = lazy(() => import('./proposals/ProposalsPage.tsx'))
const AuditPage = lazy(() => import('./audit/AuditPage.tsx'))
const KeysPage = lazy(() => import('./keys/KeysPage.tsx'))
const SessionsPage = lazy(() => import('./sessions/SessionsPage.tsx'))

const BASE = '/console'
const ID = '(?<id>[1-9][0-9]{0,9})'

/** Routes: `/console` is the overview, `/console/<noun>` the table of a noun, `/console/<noun>/<id>` a record or a proposal. */
export function Console() {
  const { session, loginPrompt } = useSession()

  useEffect(() => {
    // Ahead, because a deployment in the meantime removes the file.
    if (session === undefined) return
    for (const load of [loadLoginDialog, loadRecordPage]) load().catch(() => {})
  }, [session])

  useEffect(() => {
    if (session === undefined) return
    const end = new AbortController()
    // After the page, which works without it.
    import('./live/follow.ts').then(
      ({ follow }) => follow(session.name, end.signal),
      () => {},
    )
    return () => end.abort()
  }, [session])

  if (loginPrompt === 'page') {
    return (
      <Suspense>
        <LoginPage />
      </Suspense>
    )
  }
  return (
    <Router base={BASE} hook={useHeldLocation} searchHook={useHeldSearch}>
      <Shell>
        <ShownLocation base={BASE}>
          <Pages />
        </ShownLocation>
      </Shell>
      {loginPrompt === 'dialog' && (
        <LazyDialog>
          <LoginDialog />
        </LazyDialog>
      )}
    </Router>
  )
}

/** The page of the location. An error of one page ends with it. */
function Pages() {
  const [path] = useLocation()
  return (
    <ErrorBoundary key={path} FallbackComponent={ErrorFallback}>
      <Suspense>
        <Switch>
          <Route path="/" component={Overview} />
          {resources.flatMap((resource) => [
            <Route key={resource.noun} path={`/${resource.noun}`}>
              <ResourcePage key={resource.noun} resource={resource} />
            </Route>,
            <Route key={`${resource.noun}-record`} path={RegExp(`^/${resource.noun}/${ID}$`)}>
              {({ id }) => <RecordPage resource={resource} id={Number(id)} />}
            </Route>,
          ])}
          <Route path={RegExp(`^/proposals(?:/${ID})?$`)}>
            {({ id }) => <ProposalsPage {...(id !== undefined && { id: Number(id) })} />}
          </Route>
          <Route path="/audit" component={AuditPage} />
          <Route path="/keys" component={KeysPage} />
          <Route path="/sessions" component={SessionsPage} />
          <Route component={NotFound} />
        </Switch>
      </Suspense>
    </ErrorBoundary>
  )
}
