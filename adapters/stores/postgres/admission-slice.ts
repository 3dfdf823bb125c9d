/** The part of `admit_calls` that draws a slice for further calls like the one that it admits. */
import { shares } from '../slice-shares.ts'
import { limitOf } from './admission-caps.ts'

/** Lowers `more` to a share of what is left of a measure of the cap `s`. Nothing changes if it has no limit, or the call needs nothing. */
function sharing(measure: string, need: string): string {
  return `more := greatest(0, least(more, (${limitOf(measure)} - settled_${measure}[s] - held_${measure}[s])
            / nullif(${need} * ${shares.units}, 0)));`
}

/**
 * Draws for so many further calls as there is plenty for, at most `more`, and sets `more` to their number. The slice becomes one
 * more entry of the columns from which holds, places and what they count for caps are written; `counts` is its number of calls.
 */
export const drawingSlice: string = `
        FOR i IN 1..cardinality(costs) LOOP
          more := least(more, floor((room[i] - costs[i]) / greatest(1e-6, costs[i] * ${shares.units})));
        END LOOP;
        FOR i IN 1..cardinality(places) LOOP
          more := least(more, (free[i] - 1) / ${shares.places});
        END LOOP;
        IF NOT unlimited[payers[1]] THEN
          more := greatest(0, least(more, balances[payers[1]] / nullif(amounts[1] * ${shares.units}, 0)));
        END IF;
        FOR i IN 1..cardinality(cap_scope) LOOP
          s := first_of[cap_scope[i]];
          IF finishes[s] < moment_ms + slice_ms THEN
            more := 0;
          END IF;
          ${sharing('money', 'amounts[1]')}
          ${sharing('tokens', 'tokens[1]')}
          ${sharing('calls', '1')}
        END LOOP;
        IF more > 0 THEN
          FOR i IN 1..cardinality(costs) LOOP
            used[rate_bucket[i]] := used[rate_bucket[i]] + costs[i] * more;
          END LOOP;
          FOR i IN 1..cardinality(places) LOOP
            held[slot_bucket[i]] := held[slot_bucket[i]] + more;
          END LOOP;
          balances[payers[1]] := balances[payers[1]] - amounts[1] * more;
          claims := claims || slice;
          claim_ms := claim_ms || claim_ms;
          slot_call := slot_call || array_fill(2, ARRAY[cardinality(slot_call)]);
          slot_bucket := slot_bucket || slot_bucket;
          taken := taken || taken;
          holds := holds || slice;
          hold_ms := hold_ms || hold_ms;
          payers := payers || payers;
          amounts := amounts || amounts[1] * more;
          tokens := tokens || tokens[1] * more;
          made := made || made;
          cap_call := cap_call || array_fill(2, ARRAY[cardinality(cap_call)]);
          cap_scope := cap_scope || cap_scope;
          counts := counts || more;
        END IF;`
