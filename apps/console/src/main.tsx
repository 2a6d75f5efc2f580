import './without-eval.ts'
import './styles/index.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './query-client.ts'
import { router } from './router.tsx'
import { applyTheme, storedTheme } from './shell/theme.ts'

applyTheme(storedTheme())

createRoot(document.getElementById('console') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
