/** The function that anonymises a part of the records. The labels come last, because they select the records. */
export const anonymiseFunction: string = `
  CREATE FUNCTION @.anonymise_usage(of_account text, of_user text, new_account text, most int) RETURNS bool
  LANGUAGE plpgsql AS $f$
  DECLARE
    changed int;
  BEGIN
    UPDATE @.calls SET session = NULL, rest = nullif(rest - 'agent', '{}') WHERE ctid = ANY (ARRAY(
      SELECT c.ctid FROM @.usage_labels l JOIN @.calls c ON c.label = l.label AND c.session IS NOT NULL
      WHERE l.account = of_account AND (of_user IS NULL OR l."user" = of_user) LIMIT most
    ));
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
      RETURN true;
    END IF;
    -- A random digest: appended records never get an anonymised label.
    UPDATE @.usage_labels SET account = new_account, key = '', "user" = NULL, tags = NULL,
      digest = sha256(convert_to(label || ' ' || random() || clock_timestamp(), 'UTF8'))
    WHERE account = of_account AND within IS NOT NULL AND (of_user IS NULL OR "user" = of_user);
    DELETE FROM @.usage_users WHERE account = of_account AND (of_user IS NULL OR "user" = of_user);
    RETURN false;
  END
  $f$`
