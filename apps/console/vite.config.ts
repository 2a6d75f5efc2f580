import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The server's policy allows only same-origin files, so nothing is inlined as a data: URL. `pnpm dev` uses the API that
// `npm start` serves.
export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: { assetsInlineLimit: 0, target: 'es2024', modulePreload: { polyfill: false } },
  server: { proxy: { '/trpc': 'http://127.0.0.1:3000', '/console/session': 'http://127.0.0.1:3000' } },
})
