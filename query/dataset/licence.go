package dataset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Licence has the licence and the attribution that the owner of the data requires.
type Licence struct {
	Licence     string `json:"licence"`
	Attribution string `json:"attribution"`
}

// Compare orders licences by their texts.
func (l Licence) Compare(o Licence) int {
	return cmp.Or(cmp.Compare(l.Licence, o.Licence), cmp.Compare(l.Attribution, o.Attribution))
}

// owners returns an SQL expression for rows of t, and one for rows of the table `station`. A row has the licences of
// the stations with an equal value, such as all stations of its city. Both are "" if rows of t have no licences.
func (t *Table) owners() (own, station string) {
	switch {
	case t.Station != "" && t.Derived: // a view has a physical station under one id, with the readings of all its ids
		return t.Station, "if(same_as = '', id, same_as)"
	case t.Station != "":
		return t.Station, "id"
	case t.Forecast:
		return "if(place_kind = 'station', place, toString((place, state)))", "arrayJoin([toString(id), toString((city, state))])"
	case t.City:
		return "(city, state)", "(city, state)"
	}
	return "", ""
}

// Licences reads the licences of the selected rows, in the order of Compare. It reads rows without FINAL, because all
// versions of a row have the same station.
func (r *Reader) Licences(ctx context.Context) ([]Licence, error) {
	t := &r.Selection.Table
	own, station := t.owners()
	if own == "" {
		return nil, nil
	}
	which := clause(r.where)
	if t.Name != "station" {
		which = " WHERE " + station + " IN (SELECT DISTINCT " + own + r.from() + ")"
	}
	var all []Licence
	err := r.scan(ctx, "SELECT DISTINCT licence, attribution FROM "+r.database+".station FINAL"+which+" ORDER BY licence, attribution", r.args, func(scan func(...any) error) error {
		var one Licence
		err := scan(&one.Licence, &one.Attribution)
		all = append(all, one)
		return err
	})
	return all, err
}

// LicencesByMonth reads the licences of the rows of each month (such as 202611), in the order of Compare.
func (r *Reader) LicencesByMonth(ctx context.Context) (map[uint32][]Licence, error) {
	t := &r.Selection.Table
	own, station := t.owners()
	if own == "" {
		return nil, nil
	}
	owned := map[string][]Licence{}
	err := r.scan(ctx, "SELECT DISTINCT toString("+station+"), licence, attribution FROM "+r.database+".station FINAL", nil, func(scan func(...any) error) error {
		var owner string
		var one Licence
		err := scan(&owner, &one.Licence, &one.Attribution)
		owned[owner] = append(owned[owner], one)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := map[uint32][]Licence{}
	err = r.scan(ctx, "SELECT DISTINCT "+t.month()+", toString("+own+")"+r.from(), r.args, func(scan func(...any) error) error {
		var month uint32
		var owner string
		err := scan(&month, &owner)
		for _, one := range owned[owner] {
			if i, found := slices.BinarySearchFunc(all[month], one, Licence.Compare); !found {
				all[month] = slices.Insert(all[month], i, one)
			}
		}
		return err
	})
	return all, err
}

// scan runs a query. For each row of the result it calls `row` with the function that scans the columns of that row.
func (r *Reader) scan(ctx context.Context, query string, args []any, row func(scan func(...any) error) error) error {
	rows, err := r.conn.Query(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("reading the licences of %s: %w", r.Selection.Table.Name, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return fmt.Errorf("reading the licences of %s: %w", r.Selection.Table.Name, err)
		}
	}
	return rows.Err()
}
