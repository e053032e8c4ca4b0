package columnstore

import (
	"fmt"
	"io/fs"
)

// DDL returns the rendered statements that [Migrate] runs on an empty server: they create the database, its table
// "migration", and all tables of files. DDL runs no query.
func DDL(files fs.FS, p Params) ([]string, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	list, err := readMigrations(files)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, m := range append([]migration{{name: "migration", text: ownTables}}, list...) {
		text, err := p.render(m.name, m.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		all = append(all, splitStatements(text)...)
	}
	return all, nil
}
