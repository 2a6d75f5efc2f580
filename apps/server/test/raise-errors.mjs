// Loaded into the service by --import: SIGUSR2 rejects a promise outside any request, SIGALRM throws an uncaught error.
process.on('SIGUSR2', () => void Promise.reject(new Error('rejected by the test')))
process.on('SIGALRM', () => {
  throw new Error('thrown by the test')
})
