import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { withoutDocumentation } from './without-documentation.ts'

// The server's policy allows only same-origin files, so nothing is inlined as a data: URL. scripts/dev adds the service.
export default defineConfig({
  base: '/console/',
  plugins: [react(), withoutDocumentation],
  build: {
    assetsInlineLimit: 0,
    target: 'es2024',
    modulePreload: { polyfill: false },
    // A chunk runs its modules after those of the chunks that it imports: zod must be configured before the contract runs in any.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'zod', test: /zod-config|\/node_modules\/zod\//, priority: 1 },
            // One chunk compresses better than one for each set of modules that lazy chunks share with the first load.
            { name: 'first', tags: ['$initial'] },
          ],
        },
      },
    },
  },
})
