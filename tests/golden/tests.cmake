sfb_test(golden sframe_rows)
