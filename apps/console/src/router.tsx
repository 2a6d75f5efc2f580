import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router'
import { Overview } from './overview/Overview.tsx'
import { resources } from './resources/index.ts'
import { NotFound } from './shell/NotFound.tsx'
import { Shell } from './shell/Shell.tsx'
import { ResourcePage } from './table/ResourcePage.tsx'
import { searchOf } from './table/view.ts'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })
const overview = createRoute({ getParentRoute: () => root, path: '/', component: Overview })
const nouns = resources.map((resource) =>
  createRoute({
    getParentRoute: () => root,
    path: `/${resource.noun}`,
    validateSearch: (search) => searchOf(resource, search),
    component: () => <ResourcePage key={resource.noun} resource={resource} />,
  }),
)

/** `/console` is the overview, `/console/<noun>` the table of a noun. */
export const router = createRouter({
  routeTree: root.addChildren([overview, ...nouns]),
  basepath: '/console',
  scrollRestoration: false,
})
