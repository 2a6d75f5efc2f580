import { contract } from '@resource/contract'
import {
  GitPullRequestArrow,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  MonitorSmartphone,
  Rows3,
  ScrollText,
} from 'lucide-react'
import { resources } from '../resources/index.ts'
import type { Noun } from '../resources/resource.ts'

/** A page of the console. */
export interface Destination {
  href: string
  title: string
  icon: LucideIcon
  /** Whose number of records, or of open proposals, follows the title. */
  counted?: Noun | 'proposals'
  /** The procedure that the user's role must allow; absent if every role may open the page. */
  needs?: { access?: string | undefined }
}

/** The pages in groups, in the order of the sidebar. The first group has no title. */
export const NAVIGATION: { title: string; pages: Destination[] }[] = [
  { title: '', pages: [{ href: '/', title: 'Overview', icon: LayoutDashboard }] },
  {
    title: 'Collections',
    pages: resources.map(({ noun, title }) => ({ href: `/${noun}`, title, icon: Rows3, counted: noun })),
  },
  {
    title: 'Changes',
    pages: [
      {
        href: '/proposals',
        title: 'Proposals',
        icon: GitPullRequestArrow,
        counted: 'proposals',
        needs: contract.proposals.procedures.list,
      },
      { href: '/audit', title: 'Audit log', icon: ScrollText, needs: contract.audit.procedures.list },
    ],
  },
  {
    title: 'Access',
    pages: [
      { href: '/keys', title: 'Keys', icon: KeyRound, needs: contract.keys.procedures.list },
      { href: '/sessions', title: 'Sessions', icon: MonitorSmartphone, needs: contract.sessions.procedures.list },
    ],
  },
]
