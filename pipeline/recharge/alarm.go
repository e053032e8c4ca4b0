package recharge

import (
	"database/sql"
	"errors"

	"vayu/pipeline/wallet"
	"vayu/schema"
)

// Values of the column alarm, which holds the newest that needs somebody to look into
// it. Whether one was raised before is known by what it has left behind: the posting
// of a late success, stray_at of that of another order, the column itself of a late
// failure.
const (
	alarmLateSuccess = "late_success"
	alarmLateFailure = "late_failure"
)

// alarmOf is the alarm that a verdict raises.
func alarmOf(v verdict) string {
	if v == lateSuccess {
		return alarmLateSuccess
	}
	return alarmLateFailure
}

// alarm notes once that a provider contradicts what is final. It changes no state.
func (st *settling) alarm() (bool, error) {
	r := &st.out.Record
	raise := st.lateFailure
	switch {
	case st.out.verdict == lateSuccess && r.Reference != st.word.reference:
		raise = st.stray
	case st.out.verdict == lateSuccess:
		raise = st.suspend
	}
	alarm, err := raise()
	if err != nil || alarm == "" {
		return false, err
	}
	r.Alarm = alarm
	if err := st.note(st.alarmSaid()); err != nil {
		return false, err
	}
	if err := st.leave(); err != nil {
		return false, err
	}
	return true, st.audit("recharge."+alarmOf(st.out.verdict), map[string]any{"said": st.word.Outcome.String(), "reference": st.word.reference})
}

// suspend books what a provider has carried out after all that had failed. It returns
// the alarm of the recharge, as those do that follow; none when it was booked before.
func (st *settling) suspend() (alarm string, err error) {
	r := &st.out.Record
	// Whoever looks for the posting has locked the row: on PostgreSQL two could miss it
	// at the same time.
	n, err := st.tx.Exec("UPDATE recharge SET tries = tries WHERE id = $1 AND reference = $2 AND state = $3", r.ID, r.Reference, string(schema.RechargeFailed))
	if err != nil || n == 0 {
		return "", err
	}
	var booked int
	if err := st.tx.QueryRow("SELECT count(*) FROM posting WHERE subject = $1 AND kind = 'suspend'", r.ID).Scan(&booked); err != nil || booked > 0 {
		return "", err
	}
	if err := wallet.Suspend(st.tx, st.now, r.Owner, r.ID, r.Operator, r.Amount); err != nil {
		return "", err
	}
	_, err = st.tx.Exec("UPDATE recharge SET alarm = $2, resolved_at = NULL WHERE id = $1", r.ID, alarmLateSuccess)
	return alarmLateSuccess, err
}

// stray notes that an order was carried out in whose place there is another, or that
// was never given. Nothing is booked: nothing is reserved for it. An alarm that is
// there stays, so that it is not raised once more.
func (st *settling) stray() (alarm string, err error) {
	err = st.tx.QueryRow(`UPDATE recharge SET stray_at = $2, resolved_at = NULL, alarm = CASE WHEN alarm = '' THEN $3 ELSE alarm END
		WHERE id = $1 AND stray_at IS NULL RETURNING alarm`, st.out.ID, st.now.UnixMicro(), alarmLateSuccess).Scan(&alarm)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return alarm, err
}

// lateFailure notes that a provider has not carried out what was charged.
func (st *settling) lateFailure() (alarm string, err error) {
	r := &st.out.Record
	n, err := st.tx.Exec("UPDATE recharge SET alarm = $2, resolved_at = NULL WHERE id = $1 AND reference = $3 AND state = $4 AND alarm <> $2",
		r.ID, alarmLateFailure, r.Reference, string(schema.RechargeSuccess))
	if err != nil || n == 0 {
		return "", err
	}
	return alarmLateFailure, nil
}
