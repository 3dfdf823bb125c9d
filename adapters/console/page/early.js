// Runs before the first paint, so that a chosen theme does not appear after the system's.
try {
  const theme = localStorage.getItem('modelhatch.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
} catch {
  // Without storage, the system's theme is used.
}
