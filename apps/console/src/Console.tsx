import { Route, Router, Switch } from 'wouter'
import { Overview } from './overview/Overview.tsx'
import { resources } from './resources/index.ts'
import { NotFound } from './shell/NotFound.tsx'
import { Shell } from './shell/Shell.tsx'
import { ResourcePage } from './table/ResourcePage.tsx'

/** `/console` is the overview, `/console/<noun>` the table of a noun. */
export function Console() {
  return (
    <Router base="/console">
      <Shell>
        <Switch>
          <Route path="/" component={Overview} />
          {resources.map((resource) => (
            <Route key={resource.noun} path={`/${resource.noun}`}>
              <ResourcePage key={resource.noun} resource={resource} />
            </Route>
          ))}
          <Route component={NotFound} />
        </Switch>
      </Shell>
    </Router>
  )
}
