package wallet

import (
	"database/sql"
	"math"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// settledAfter is the age, relative to the newest posting, from which a posting is settled. The sum of settled postings
// is final, because settledAfter exceeds the time from a posting's timestamp to its commit, plus clock skew.
const settledAfter = time.Minute

// checkBalances compares the balances of a wallet with the sums of its postings. One statement cannot sum all
// postings of a large account within its time limit. So checkBalances sums settled postings, which do not
// change, in parts. Then one statement reads the newer postings and the wallet.
func (v *verifier) checkBalances() error {
	var newest sql.NullInt64
	err := v.view.QueryRow("SELECT max(at) FROM posting WHERE account_id = $1 AND mode = $2",
		v.owner.Account, v.owner.World.String()).Scan(&newest)
	if err != nil {
		return err
	}
	settled := newest.Int64 - settledAfter.Microseconds()
	sums := map[string]schema.Paise{}
	if newest.Valid {
		if err := v.eachPart(math.MinInt64, settled, func(after, end int64) error { return v.addLedgers(sums, after, end) }); err != nil {
			return err
		}
		if err := v.eachPart(settled, newest.Int64, nil); err != nil {
			return err
		}
	}
	if err := v.compareBalances(sums, settled); err != nil {
		return err
	}
	for ledger, sum := range sums {
		v.sums[LedgerSum{World: v.owner.World, Ledger: ledger}] += sum
	}
	return nil
}

// eachPart splits the time range (after, until] into parts. A part has at most v.rows postings,
// plus further postings with the time of the last one. For each part, eachPart checks the entries.
// It then calls the function `also`, unless `also` is nil.
func (v *verifier) eachPart(after, until int64, also func(after, end int64) error) error {
	for {
		var end sql.NullInt64
		err := v.view.QueryRow(`SELECT max(at) FROM (SELECT at FROM posting
			WHERE account_id = $1 AND mode = $2 AND at > $3 AND at <= $4 ORDER BY at LIMIT $5) AS part`,
			v.owner.Account, v.owner.World.String(), after, until, v.rows).Scan(&end)
		if err != nil || !end.Valid {
			return err
		}
		if err := v.checkEntries(after, end.Int64); err != nil {
			return err
		}
		if also != nil {
			if err := also(after, end.Int64); err != nil {
				return err
			}
		}
		after = end.Int64
	}
}

// checkEntries checks that the postings in the time range (after, end] form complete entries, each
// of a recharge or payment. Both postings of an entry must have the same owner and time.
func (v *verifier) checkEntries(after, end int64) error {
	err := sqlstore.Each(v.view, func(row sqlstore.Scanner) error {
		var subject, kind string
		var count, sum int64
		if err := row.Scan(&subject, &kind, &count, &sum); err != nil {
			return err
		}
		v.wrongf(subject, "its %s has %d postings, which add up to %s; want 2 of one moment, and ₹0", kind, count, schema.Paise(sum).Rupees())
		return nil
	}, `SELECT subject, kind, count(*), CAST(sum(amount) AS BIGINT) FROM posting
		WHERE account_id = $1 AND mode = $2 AND at > $3 AND at <= $4
		GROUP BY subject, kind HAVING count(*) <> 2 OR sum(amount) <> 0 OR min(at) <> max(at) ORDER BY subject, kind`,
		v.owner.Account, v.owner.World.String(), after, end)
	if err != nil {
		return err
	}
	return sqlstore.Each(v.view, func(row sqlstore.Scanner) error {
		var subject string
		err := row.Scan(&subject)
		v.wrongf(subject, "it has postings, but is not a recharge or payment of the account")
		return err
	}, `SELECT DISTINCT p.subject FROM posting p WHERE p.account_id = $1 AND p.mode = $2 AND p.at > $3 AND p.at <= $4
		AND NOT EXISTS (SELECT 1 FROM recharge r WHERE r.id = p.subject AND r.account_id = $1 AND r.mode = $2)
		AND NOT EXISTS (SELECT 1 FROM payment y WHERE y.id = p.subject AND y.account_id = $1 AND y.mode = $2) ORDER BY p.subject`,
		v.owner.Account, v.owner.World.String(), after, end)
}

// addLedgers adds the postings in the range (after, end] to their ledgers' sums, and counts them.
func (v *verifier) addLedgers(sums map[string]schema.Paise, after, end int64) error {
	return sqlstore.Each(v.view, func(row sqlstore.Scanner) error {
		var ledger string
		var sum schema.Paise
		var count int64
		err := row.Scan(&ledger, &sum, &count)
		sums[ledger] += sum
		v.report.Postings += count
		return err
	}, `SELECT ledger, CAST(sum(amount) AS BIGINT), count(*) FROM posting
		WHERE account_id = $1 AND mode = $2 AND at > $3 AND at <= $4 GROUP BY ledger`,
		v.owner.Account, v.owner.World.String(), after, end)
}

// selectBalances reads three sources of an account's balances in one statement: the postings after
// the time $3, the wallet, and the pending recharges.
const selectBalances = `
	SELECT 'posting', ledger, CAST(sum(amount) AS BIGINT), count(*) FROM posting
		WHERE account_id = $1 AND mode = $2 AND at > $3 GROUP BY ledger
	UNION ALL SELECT 'wallet', 'available', available, 1 FROM wallet WHERE account_id = $1 AND mode = $2
	UNION ALL SELECT 'wallet', 'held', held, 1 FROM wallet WHERE account_id = $1 AND mode = $2
	UNION ALL SELECT 'pending', 'held', CAST(COALESCE(sum(amount), 0) AS BIGINT), count(*) FROM recharge
		WHERE account_id = $1 AND mode = $2 AND state = 'pending'`

// compareBalances adds the postings after the time `after` to `sums`, by ledger. Then it compares `sums` with the
// wallet, and the wallet's held amount with the pending recharges.
func (v *verifier) compareBalances(sums map[string]schema.Paise, after int64) error {
	var pending schema.Paise
	has := map[string]schema.Paise{}
	err := sqlstore.Each(v.view, func(row sqlstore.Scanner) error {
		var what, ledger string
		var sum schema.Paise
		var count int64
		if err := row.Scan(&what, &ledger, &sum, &count); err != nil {
			return err
		}
		switch what {
		case "posting":
			sums[ledger] += sum
			v.report.Postings += count
		case "wallet":
			has[ledger] = sum
		default:
			pending = sum
		}
		return nil
	}, selectBalances, v.owner.Account, v.owner.World.String(), after)
	if err != nil {
		return err
	}
	for _, ledger := range []string{available, held} {
		if has[ledger] != sums[ledger] {
			v.wrongf("", "the wallet has %s %s, and its postings add up to %s", has[ledger].Rupees(), ledger, sums[ledger].Rupees())
		}
	}
	if has[held] != pending {
		v.wrongf("", "the wallet has %s reserved, and its pending recharges amount to %s", has[held].Rupees(), pending.Rupees())
	}
	return nil
}
