package sqlstore

import "fmt"

// OtherConnections returns how many other connections to this database belong to a vayu process, on any host. A
// running service always has a connection. On SQLite the result is always 0: a service locks the directory, and
// commands beside it are not counted.
func (tx *Tx) OtherConnections() (n int64, err error) {
	if tx.Name() != "postgres" {
		return 0, nil
	}
	err = tx.QueryRow(`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
		AND application_name = current_setting('application_name') AND pid <> pg_backend_pid()`).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("counting who else uses the store: %w", err)
	}
	return n, nil
}
