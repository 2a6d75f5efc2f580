// Loaded by --import into the service: SIGUSR2 makes a promise of no request fail, SIGALRM throws where nothing catches.
process.on('SIGUSR2', () => void Promise.reject(new Error('rejected by the test')))
process.on('SIGALRM', () => {
  throw new Error('thrown by the test')
})
