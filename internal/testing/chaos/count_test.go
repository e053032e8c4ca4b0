package chaos

import (
	"context"
	"fmt"
	"time"
)

// countedAfter is longer than an instance takes to flush its counters.
const countedAfter = 3 * time.Second

// counts compares answered calls with counted calls, and with the quota of the limited client.
func (r *Run) counts(ctx context.Context) ([]check, error) {
	if err := wait(ctx, countedAfter); err != nil {
		return nil, err
	}
	calls, counted, quota, err := r.store.Usage(ctx)
	if err != nil {
		return nil, err
	}
	kills := 0
	for _, d := range r.rows {
		kills += d.kills
	}
	now := time.Now()
	air, limited := r.air.Between(r.began, now), r.limited.Between(r.began, now)
	return []check{
		countedOf(calls, air, limited, kills),
		{"quotas used, of calls counted", fmt.Sprintf("%d of %d (%+d)", quota, counted, quota-counted), "the same", quota == counted},
		enforced(limited, kills, r.aloneBefore(limited.FirstRefused)),
	}, nil
}

// countedOf compares the counted calls with the answers that clients got. A killed instance loses the counts
// of its last second. Unanswered calls may have been counted.
func countedOf(calls int64, air, limited AirStats, kills int) check {
	answered := air.Answered + limited.Answered
	unanswered := air.Requests + limited.Requests - answered
	less, more := (airRate+limitedRate)*kills, unanswered
	off := int(calls) - answered
	return check{
		"calls counted, of those answered", fmt.Sprintf("%d of %d (%+d)", calls, answered, off),
		fmt.Sprintf("at most %d less: a second of traffic for each kill of %d; at most %d more: no answer came to these", less, kills, more),
		-less <= off && off <= more,
	}
}

// aloneBefore returns for how long before moment the instances could not exchange their counts of calls; 0 if
// they could exchange them at moment.
func (r *Run) aloneBefore(moment time.Time) time.Duration {
	for _, d := range r.rows {
		if d.alone && moment.After(d.from) && moment.Before(d.faultEnded.Add(d.recovered)) {
			return moment.Sub(d.from)
		}
	}
	return 0
}

// enforced checks that the limited client got what its quota allows. Two instances exchange counts twice a
// second, so clients may get one second of traffic beyond the quota. Each killed instance adds another
// second, and each second without exchange adds one.
func enforced(limited AirStats, kills int, alone time.Duration) check {
	quota, good := Quota(), limited.Requests-limited.Failed
	may := limitedRate * (1 + kills + int((alone+time.Second-1)/time.Second))
	unanswered := limited.Requests - limited.Answered
	return check{
		"calls answered beyond a quota", fmt.Sprintf("%+d of %d; %d were refused", good-quota, quota, limited.Refused),
		fmt.Sprintf("at most %d: a second of traffic for two instances, each kill of %d and each second of %.0f that they were alone", may, kills, alone.Seconds()),
		limited.Refused > 0 && good <= quota+may && good >= quota-may-unanswered,
	}
}
