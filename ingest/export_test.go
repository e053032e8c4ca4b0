package ingest

import "time"

// Age makes the stations in memory so old that the next batch reads them anew.
func (l *Loader) Age() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loadedAt = time.Time{}
}
