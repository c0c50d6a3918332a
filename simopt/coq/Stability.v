(** AK-T3-sharp: the constants of the bounds on how much an m-regularised least-squares fit changes with one sample are best. *)

From Simopt Require Import Spaces.
Open Scope R_scope.

(** * Definitions *)

(** Samples at one point with k = kappa = 1, targets between -1 and 1: what the fit f minimises, with this divisor. *)
Definition regularised (divisor : R) (m : nat) (lam : R) (y : list R) (f : R) : R := sum (map (fun a => (f - a) ^ 2) y) / divisor + lam * Rabs f ^ m.
Definition minimises (g : R -> R) (f : R) : Prop := forall h, g f <= g h.
(** (2^(m-2) c C kappa / (m lam n))^(1/(m-1)) for n = 2, C = 2 (C_y + kappa (C_y^2 / lam)^(1/m)), C_y = kappa = 1. *)
Definition stability_bound (c : R) (m : nat) (lam : R) : R :=
  Rpower (2 ^ (m - 2) * c * (2 * (1 + Rpower (1 / lam) (1 / INR m))) / (INR m * lam * 2)) (1 / INR (m - 1)).

(** * Lemmas *)

(** The tangent of h^m at s. *)
Lemma above_tangent m s h : (1 <= m)%nat -> 0 <= s -> 0 <= h -> s ^ m + INR m * s ^ (m - 1) * (h - s) <= h ^ m.
Proof.
  intros M T H. induction m as [|m IH]; [lia|]. destruct m as [|m]; [simpl; lra|]. specialize (IH ltac:(lia)). rewrite S_INR.
  replace (S (S m) - 1)%nat with (S m) by lia. replace (S m - 1)%nat with m in IH by lia.
  assert (A : h * (s ^ S m + INR (S m) * s ^ m * (h - s)) <= h * h ^ S m) by (now apply Rmult_le_compat_l).
  assert (B : 0 <= INR (S m) * s ^ m * (h - s) ^ 2).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [apply pos_INR | now apply pow_le] | apply pow2_ge_0]. }
  change (h ^ S (S m)) with (h * h ^ S m). apply Rle_trans with (2 := A).
  replace (s ^ S (S m) + (INR (S m) + 1) * s ^ S m * (h - s)) with (h * (s ^ S m + INR (S m) * s ^ m * (h - s)) - INR (S m) * s ^ m * (h - s) ^ 2)
    by (simpl pow; ring). lra.
Qed.

Lemma above_tangent_abs m s h : (1 <= m)%nat -> 0 <= s -> s ^ m + INR m * s ^ (m - 1) * (h - s) <= Rabs h ^ m.
Proof.
  intros M T. apply Rle_trans with (2 := above_tangent m s (Rabs h) M T (Rabs_pos h)).
  apply Rplus_le_compat_l, Rmult_le_compat_l; [apply Rmult_le_pos; [apply pos_INR | now apply pow_le]|]. generalize (Rle_abs h). lra.
Qed.

Lemma power_at_most_one d m : 0 <= d <= 1 -> d ^ m <= 1.
Proof. intros D. rewrite <- (pow1 m). now apply pow_incr. Qed.

Lemma power_at_most d m : (1 <= m)%nat -> 0 <= d <= 1 -> d ^ m <= d.
Proof.
  intros M D. destruct m as [|m]; [lia|]. simpl. generalize (power_at_most_one d m D) (pow_le d m (proj1 D)). intros. nra.
Qed.

(** * AK-T3-sharp *)

(** The divisor kept, c = 1: for every m. *)
Theorem AK_T3_sharp_kept m q : (2 <= m)%nat -> 0 < q < 1 -> exists lam y z f g, 0 < lam /\ Rabs y <= 1 /\ Rabs z <= 1 /\
  minimises (regularised 2 m lam [y; z]) f /\ minimises (regularised 2 m lam [y]) g /\ q * stability_bound 1 m lam <= Rabs (f - g).
Proof.
  intros M Q. set (d := (1 - q) / 4). assert (D : 0 < d < 1 / 4) by (unfold d; lra).
  assert (M2 : 2 <= INR m) by (apply le_INR in M; cbn [INR] in M; lra). assert (M1 : (1 <= m)%nat) by lia.
  set (s := d ^ m / (4 * INR m)). assert (P : 0 < d ^ m) by (now apply pow_lt).
  assert (S : 0 < s) by (apply Rdiv_lt_0_compat; lra). assert (S4 : 4 * INR m * s = d ^ m) by (unfold s; field; lra).
  assert (S3 : 3 * s <= d).
  { generalize (power_at_most d m M1 ltac:(lra)). nra. }
  set (lam := (1 - 3 * s) / (2 * INR m * s ^ (m - 1))). assert (SP : 0 < s ^ (m - 1)) by (now apply pow_lt).
  assert (MS : 0 < 2 * INR m * s ^ (m - 1)) by (apply Rmult_lt_0_compat; lra).
  assert (L : 0 < lam) by (apply Rdiv_lt_0_compat; lra). assert (E : lam * (INR m * s ^ (m - 1)) = (1 - 3 * s) / 2) by (unfold lam; field; lra).
  assert (H : forall h, lam * s ^ m + (1 - 3 * s) / 2 * (h - s) <= lam * Rabs h ^ m).
  { intros h. rewrite <- E. generalize (above_tangent_abs m s h M1 ltac:(lra)). intros A. apply (Rmult_le_compat_l lam) in A; [|lra]. lra. }
  exists lam, ((1 - s) / 2), (-1), (- s), s. split; [easy|]. split; [rewrite Rabs_right; lra|].
  split; [rewrite Rabs_left; lra|]. split; [|split].
  - intros h. unfold regularised, sum. cbn [map fold_right]. rewrite Rabs_Ropp, (Rabs_right s) by lra. specialize (H (- h)). rewrite Rabs_Ropp in H.
    generalize (pow2_ge_0 (h + s)). lra.
  - intros h. unfold regularised, sum. cbn [map fold_right]. rewrite (Rabs_right s) by lra. specialize (H h). generalize (pow2_ge_0 (h - s)). lra.
  - rewrite Rabs_left by lra. replace (- (- s - s)) with (2 * s) by ring.
    assert (R1 : Rpower (1 / lam) (1 / INR m) <= d).
    { apply root_at_most; [apply Rdiv_lt_0_compat; lra | lra | easy|]. apply (Rmult_le_reg_r lam); [easy|]. replace (1 / lam * lam) with 1 by (field; lra).
      rewrite <- S4. apply (Rmult_le_reg_r (s ^ (m - 1))); [easy|].
      replace (4 * INR m * s * lam * s ^ (m - 1)) with (4 * s * (lam * (INR m * s ^ (m - 1)))) by ring.
      rewrite E. generalize (power_at_most s (m - 1) ltac:(lia) ltac:(lra)). nra. }
    set (r := Rpower (1 / lam) (1 / INR m)) in *. assert (R0 : 0 < r) by apply exp_pos.
    assert (B : stability_bound 1 m lam <= 2 * s / q).
    { unfold stability_bound. fold r. assert (Z : 0 < 2 ^ (m - 2)) by (apply pow_lt; lra). apply root_at_most.
      - apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|]. assert (0 < INR m * lam) by (apply Rmult_lt_0_compat; lra). lra.
      - apply Rdiv_lt_0_compat; lra.
      - lia.
      - assert (T : 2 ^ (m - 1) = 2 * 2 ^ (m - 2)) by (replace (m - 1)%nat with (Datatypes.S (m - 2)) by lia; reflexivity).
        unfold Rdiv at 2. rewrite !Rpow_mult_distr, T, pow_inv.
        replace (2 ^ (m - 2) * 1 * (2 * (1 + r)) / (INR m * lam * 2)) with (2 * 2 ^ (m - 2) * s ^ (m - 1) * ((1 + r) / (1 - 3 * s))) by (unfold lam;
          field; lra).
        assert (QP : 0 < q ^ (m - 1)) by (apply pow_lt; lra). apply Rmult_le_compat_l; [repeat apply Rmult_le_pos; lra|].
        apply (Rmult_le_reg_r ((1 - 3 * s) * q ^ (m - 1))); [apply Rmult_lt_0_compat; lra|].
        replace ((1 + r) / (1 - 3 * s) * ((1 - 3 * s) * q ^ (m - 1))) with ((1 + r) * q ^ (m - 1)) by (field; lra).
        replace (/ q ^ (m - 1) * ((1 - 3 * s) * q ^ (m - 1))) with (1 - 3 * s) by (field; lra).
        generalize (power_at_most q (m - 1) ltac:(lia) ltac:(lra)). intros W. apply Rle_trans with ((1 + d) * q); [|unfold d in *; nra].
        apply Rmult_le_compat; lra. }
    apply (Rmult_le_compat_l q) in B; [|lra]. replace (q * (2 * s / q)) with (2 * s) in B by (field; lra). lra.
Qed.

(** The sum divided by n - 1 = 1 where one of two samples is left, c = 2: for m = 2. *)
Theorem AK_T3_sharp_renewed q : 0 < q < 1 -> exists lam y z f g, 0 < lam /\ Rabs y <= 1 /\ Rabs z <= 1 /\
  minimises (regularised 2 2 lam [y; z]) f /\ minimises (regularised 1 2 lam [y]) g /\ q * stability_bound 2 2 lam <= Rabs (f - g).
Proof.
  intros Q. set (e := (1 - q) / (2 * (1 + q))). assert (E : 0 < e < 1 / 2).
  { unfold e. split; [apply Rdiv_lt_0_compat; lra|]. apply (Rmult_lt_reg_r (2 * (1 + q))); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (P : e * (2 * (1 + q)) = 1 - q) by (unfold e; field; lra). clearbody e.
  exists (1 / (e * e)), 1, (-1), 0, (1 / (1 + 1 / (e * e))). assert (L : 0 < 1 / (e * e)) by (apply Rdiv_lt_0_compat; nra).
  set (l := 1 / (e * e)) in *. assert (T : forall h, Rabs h ^ 2 = h ^ 2) by (intros h; apply pow2_abs).
  split; [easy|]. split; [rewrite Rabs_R1; lra|]. split; [rewrite Rabs_left; lra|]. split; [|split].
  - intros h. unfold regularised, sum. cbn [map fold_right]. rewrite !T. generalize (pow2_ge_0 h). intros.
    assert (0 <= l * h ^ 2) by (apply Rmult_le_pos; lra). lra.
  - intros h. unfold regularised, sum. cbn [map fold_right]. rewrite !T.
    assert (A : (1 + l) * (h - 1 / (1 + l)) ^ 2 = ((h - 1) ^ 2 + 0) / 1 + l * h ^ 2 - (((1 / (1 + l) - 1) ^ 2 + 0) / 1 + l * (1 / (1 + l)) ^ 2)) by
      (field; lra).
    assert (0 <= (1 + l) * (h - 1 / (1 + l)) ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]). lra.
  - assert (S : Rpower (1 / l) (1 / INR 2) = e).
    { replace (1 / l) with (e ^ 2) by (unfold l; field; lra). apply root_of_power; [lra | lia]. }
    assert (X : 0 < e * e * (1 + e)) by (repeat apply Rmult_lt_0_compat; lra).
    assert (B : stability_bound 2 2 l = e * e * (1 + e)).
    { unfold stability_bound. rewrite S. replace (2 ^ (2 - 2) * 2 * (2 * (1 + e)) / (INR 2 * l * 2)) with (e * e * (1 + e)).
      - replace (1 / INR (2 - 1)) with 1 by (simpl; lra). now apply Rpower_1.
      - unfold l. simpl. field. lra. }
    rewrite B, Rabs_minus_sym, Rminus_0_r, Rabs_right by (apply Rle_ge; left; apply Rdiv_lt_0_compat; lra).
    replace (1 / (1 + l)) with (e * e / (1 + e * e)) by (unfold l; field; split; nra).
    apply (Rmult_le_reg_r (1 + e * e)); [nra|]. replace (e * e / (1 + e * e) * (1 + e * e)) with (e * e) by (field; nra).
    assert (q * (1 + e) * (1 + e * e) <= 1) by nra. nra.
Qed.
