import './zod-config.ts'
import './styles/index.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Console } from './Console.tsx'
import { queryClient } from './query-client.ts'
import { readSession } from './session/session.ts'
import { restoreLostFocus } from './shell/lost-focus.ts'
import { allowTranslation } from './shell/translated-page.ts'
import { applyTheme } from './ui/preferences.ts'

applyTheme()
restoreLostFocus()
allowTranslation(document.body)
void readSession()

const root = document.getElementById('console') as HTMLElement
// The keyboard scrolls the element with the focus.
root.tabIndex = -1
root.focus()

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Console />
    </QueryClientProvider>
  </StrictMode>,
)
